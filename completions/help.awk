# A table of what a tool takes, from the text of its --help, a line for each:
#   verb <TAB> WORD <TAB> <TAB> DESCRIPTION
#   option <TAB> "-c --cpus" <TAB> ARGUMENT <TAB> DESCRIPTION
# ARGUMENT is as in the help, [=N] where it may be left out. Options are in columns 1 to 28, their
# description is behind and in the lines below; those that have a single name may be shorter. A shell puts this text between single quotes, so
# that it has no such quote and no backslash but in the tabs below.
function flush() {
	if (words != "")
		print kind "\t" words "\t" argument "\t" text
	words = ""
}
function add_verb(word, description) {
	gsub(/[],[]/, "", word)
	if (word !~ /^[a-z][a-z-]*$/ || seen[word]++)
		return
	flush()
	kind = "verb"
	words = word
	argument = ""
	text = description
}
/^Usage: git / { next }
/^Usage: / || /^       [a-z]/ {
	sub(/^Usage:/, "      ")
	add_verb($2, "")
	next
}
/^  -(-[a-z-]+|[A-Za-z]) [A-Z]+ / {
	flush()
	kind = "option"
	words = $1
	argument = $2
	text = $0
	sub(/^ *[^ ]+ +[^ ]+ +/, "", text)
	next
}
/^  -., --[a-z]/ || /^      --[a-z]/ {
	flush()
	row = $0
	text = ""
	if (length(row) > 28 && substr(row, 28, 1) == " ") {
		text = substr(row, 29)
		row = substr(row, 1, 28)
	} else if (match(row, /[^ ]  +[^ ]/)) {
		text = substr(row, RSTART + RLENGTH - 1)
		row = substr(row, 1, RSTART)
	}
	kind = "option"
	argument = ""
	n = split(row, part, " ")
	for (i = 1; i <= n; i++) {
		word = part[i]
		if (i > 1 && words ~ /--/) {
			argument = argument (argument == "" ? "" : " ") word
			continue
		}
		sub(/,$/, "", word)
		if (match(word, /[[]=.*[]]$/)) {
			argument = substr(word, RSTART)
			word = substr(word, 1, RSTART - 1)
		}
		words = words (words == "" ? "" : " ") word
	}
	next
}
/^                            [^ ]/ && kind == "option" && words != "" {
	text = text (text == "" ? "" : " ") substr($0, 29)
	next
}
/^  [a-z]/ {
	n = split($0, part, /   */)
	n_words = split($0, word_of, " ")
	for (i = 1; i <= n_words; i++) {
		add_verb(word_of[i], n > 2 ? part[n] : "")
		if (word_of[i] !~ /,$/)
			break
	}
	next
}
{ flush() }
END { flush() }
