// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/array.h"
#include "base/machine/identity.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "look/recording/scrub.h"

enum {
	NAMES_MAX = 4096,
	HEX_RUN_MIN = 12, /* an Ethernet address without colons */
};

struct name {
	char *name;
	char *substitute;
};

struct scrub_names {
	struct name *items;
	size_t n;
	size_t capacity;
};

struct scrub_names *scrub_names_new(void)
{
	return xptr(calloc(1, sizeof(struct scrub_names)));
}

void scrub_names_free(struct scrub_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->n; i++) {
		free(names->items[i].name);
		free(names->items[i].substitute);
	}
	free(names->items);
	free(names);
}

void scrub_names_add(struct scrub_names *names, const char *name, const char *substitute)
{
	/* A name of one letter would be found in many words. */
	if (strlen(name) < 2 || names->n >= NAMES_MAX)
		return;
	xcheck(array_grow(&names->items, sizeof(*names->items), names->n, &names->capacity));
	names->items[names->n++] = (struct name){
		.name = xptr(strdup(name)),
		.substitute = xptr(strdup(substitute)),
	};
}

/* The longest first, so that "eth1-backup" is found before "eth1". */
static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	size_t m = strlen(x->name), n = strlen(y->name);

	return m != n ? (m < n) - (m > n) : strcmp(x->name, y->name);
}

static void read_host(struct scrub_names *names)
{
	struct utsname uts;

	if (uname(&uts) < 0 || strcmp(uts.nodename, "localhost") == 0)
		return;
	scrub_names_add(names, uts.nodename, "host");
	if (strchr(uts.nodename, '.')) {
		*strchr(uts.nodename, '.') = '\0';
		scrub_names_add(names, uts.nodename, "host");
	}
}

/* Names like "eth0" are recorded; a name that somebody has chosen may be private. */
static bool is_common_interface(const char *name)
{
	static const char *const common[] = { "lo", "eth", "wlan" };

	for (size_t i = 0; i < ARRAY_SIZE(common); i++) {
		size_t length = strlen(common[i]);

		if (strncmp(name, common[i], length) == 0 &&
			strspn(name + length, "0123456789") == strlen(name + length))
			return true;
	}
	return false;
}

static void read_interfaces(struct scrub_names *names)
{
	_cleanup_closedir_ DIR *dir = opendir("/sys/class/net");
	const struct dirent *entry;
	unsigned n = 0;

	while (dir && (entry = readdir(dir))) {
		char substitute[32];

		if (entry->d_name[0] == '.' || is_common_interface(entry->d_name))
			continue;
		snprintf(substitute, sizeof(substitute), "net%u", n++);
		scrub_names_add(names, entry->d_name, substitute);
	}
}

struct scrub_names *scrub_names_read(void)
{
	struct scrub_names *names = scrub_names_new();

	read_host(names);
	read_interfaces(names);
	if (names->n > 0)
		qsort(names->items, names->n, sizeof(*names->items), compare_names);
	return names;
}

/* --- Matches anywhere in a text. Each function returns the length of the match, or 0. --- */

static size_t find_name(const struct scrub_names *names, const char *at, const char **ret)
{
	for (size_t i = 0; i < names->n; i++) {
		size_t length = strlen(names->items[i].name);

		if (strncmp(at, names->items[i].name, length) == 0 &&
			!isalnum((unsigned char)at[length])) {
			*ret = names->items[i].substitute;
			return length;
		}
	}
	return 0;
}

/* Matches n groups of hexadecimal digits of these lengths, as in an Ethernet address or a UUID.
 * Further groups belong to the match, too: an InfiniBand address has 20. */
static size_t match_groups(const char *at, char separator, const unsigned *lengths, size_t n)
{
	const char *p = at;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && *p++ != separator)
			return 0;
		for (unsigned k = 0; k < lengths[i]; k++)
			if (!isxdigit((unsigned char)*p++))
				return 0;
	}
	while (isxdigit((unsigned char)*p) || (*p == separator && isxdigit((unsigned char)p[1])))
		p++;
	return (size_t)(p - at);
}

static size_t match_ipv4(const char *at)
{
	const char *p = at;

	for (int i = 0; i < 4; i++) {
		size_t digits;

		if (i > 0 && *p++ != '.')
			return 0;
		digits = strspn(p, "0123456789");
		if (digits == 0 || digits > 3)
			return 0;
		p += digits;
	}
	return isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))
		? 0
		: (size_t)(p - at);
}

/* `before` is the character before `at`. An Ethernet address may begin within a word,
 * "enx001122334455" or "mac00:11:22:33:44:55", but an IPv4 address not within a number. */
static size_t find_address(char before, const char *at, const char **ret)
{
	static const unsigned ethernet[] = { 2, 2, 2, 2, 2, 2 };
	static const unsigned uuid[] = { 8, 4, 4, 4, 12 };
	size_t length;

	*ret = "address";
	length = match_groups(at, ':', ethernet, ARRAY_SIZE(ethernet));
	if (length == 0)
		length = match_groups(at, '-', ethernet, ARRAY_SIZE(ethernet));
	if (length == 0)
		length = match_groups(at, '_', ethernet, ARRAY_SIZE(ethernet));
	if (length == 0 && !isdigit((unsigned char)before))
		length = match_ipv4(at);
	if (length > 0)
		return length;
	*ret = "uuid";
	length = match_groups(at, '-', uuid, ARRAY_SIZE(uuid));
	if (length > 0)
		return length;
	*ret = "number";
	length = strspn(at, "0123456789abcdefABCDEF");
	return length >= HEX_RUN_MIN ? length : 0;
}

/* *ret_addresses: whether an address, UUID or number was replaced; with NULL these are not
 * replaced. */
static char *replace(const struct scrub_names *names, const char *text, bool *ret_addresses)
{
	struct text clean = { 0 };
	bool addresses = false;
	char before = '\0';

	while (*text) {
		const char *substitute = NULL;
		size_t length = 0;

		if (!isalnum((unsigned char)before))
			length = find_name(names, text, &substitute);
		if (length == 0 && ret_addresses) {
			length = find_address(before, text, &substitute);
			addresses = addresses || length > 0;
		}
		if (length > 0) {
			text_append(&clean, substitute);
			before = text[length - 1];
			text += length;
		} else {
			before = *text;
			text_append_n(&clean, text++, 1);
		}
	}
	if (ret_addresses)
		*ret_addresses = addresses;
	return xptr(text_steal(&clean));
}

char *scrub_text(const struct scrub_names *names, const char *text)
{
	static const struct scrub_names none = { 0 };
	bool addresses;
	char *clean = replace(names, text, &addresses);

	/* Again, because of addresses without anything between them: in 10.0.0.1.10.0.0.2 the first
	 * pass replaces only one. This ends, because no substitute has a digit or is longer than
	 * what it replaces. */
	while (addresses) {
		char *again = replace(&none, clean, &addresses);

		free(clean);
		clean = again;
	}
	return clean;
}

char *scrub_own_names(const struct scrub_names *names, const char *text)
{
	return replace(names, text, NULL);
}

/* --- Kinds of text. --- */

/* The place where the name of a network interface ends in the word of an action, before the queue's
 * number, as in drivers/net/ethernet: "eth0-TxRx-0" (most of Intel's), "eth0-rxtx-0" (vmxnet3,
 * nfp), "eth0-q0" (be2net). 0 where there is no such number. */
static size_t find_interface_end(const char *word, size_t length)
{
	static const char *const queues[] = { "-TxRx-", "-Tx-Rx-", "-txrx-", "-rxtx-", "-Tx-",
		"-Rx-", "-tx-", "-rx-", ":tx-", ":rx-", "-fp-", "-sq-", "-Rx", "-q" };
	size_t found = 0;

	/* The last one, because the name may contain anything. */
	for (size_t at = 0; at < length; at++)
		for (size_t i = 0; i < ARRAY_SIZE(queues); i++) {
			size_t n = strlen(queues[i]);

			if (strncmp(word + at, queues[i], n) != 0 ||
				!isdigit((unsigned char)word[at + n]))
				continue;
			found = at;
			at += n - 1;
			break;
		}
	return found;
}

/* The place where the name begins: some drivers write their own name first, "i40e-eth0-TxRx-0". */
static size_t find_interface_begin(const char *word)
{
	static const char *const drivers[] = { "i40e-", "i40evf-", "iavf-", "ice-" };

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (strncmp(word, drivers[i], strlen(drivers[i])) == 0)
			return strlen(drivers[i]);
	return 0;
}

/* Whether an interface need not be replaced: it has a common name, or is replaced already. */
static bool is_public_interface(const char *name)
{
	return is_common_interface(name) ||
		(text_starts_with(name, "net") &&
			strspn(name + 3, "0123456789") == strlen(name + 3));
}

char *scrub_actions(const struct scrub_names *names, const char *text)
{
	_cleanup_free_ char *known = scrub_text(names, text);
	struct text clean = { 0 };

	for (const char *at = known; *at;) {
		size_t length = strcspn(at, " ,\t\n"), end = find_interface_end(at, length);
		size_t begin = MIN(find_interface_begin(at), end);
		_cleanup_free_ char *name = xptr(strndup(at + begin, end - begin));

		if (*name && !is_public_interface(name)) {
			text_append_n(&clean, at, begin);
			text_append(&clean, "net");
			begin = end;
		} else {
			begin = 0;
		}
		/* The rest of the word, and what separates it from the next. */
		length += at[length] != '\0';
		text_append_n(&clean, at + begin, length - begin);
		at += length;
	}
	return xptr(text_steal(&clean));
}

char *scrub_cmdline(const struct scrub_names *names, const char *text)
{
	_cleanup_free_ char *picked = xptr(identity_pick_parameters(text));
	_cleanup_free_ char *clean = scrub_text(names, picked);
	char *line = NULL;

	xcheck(text_format(&line, "%s\n", clean));
	return line;
}

/* Removes all parentheses: "Linux version 6.1.0-18-amd64 (who@where) (gcc ...) #1 SMP ...". */
char *scrub_version(const struct scrub_names *names, const char *text)
{
	struct text clean = { 0 };
	_cleanup_free_ char *outside = NULL;
	unsigned depth = 0;

	for (; *text; text++) {
		if (*text == '(')
			depth++;
		else if (*text == ')' && depth > 0)
			depth--;
		else if (depth == 0 && !(*text == ' ' && text[1] == '('))
			text_append_n(&clean, text, 1);
	}
	outside = xptr(text_steal(&clean));
	return scrub_own_names(names, outside);
}

/* Whether the line begins with that key: "model name\t: ...". */
static bool has_key(const char *line, const char *key)
{
	size_t length = strlen(key);

	return strncmp(line, key, length) == 0 &&
		line[length + strspn(line + length, " \t")] == ':';
}

/* Appends the lines that begin with one of these keys, and empty lines. */
static void keep_lines(struct text *kept, const char *text, const char *const *keys, size_t n)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		bool keep = length == 0;

		for (size_t i = 0; i < n && !keep; i++)
			keep = has_key(text, keys[i]);
		if (keep) {
			text_append_n(kept, text, length);
			text_append(kept, "\n");
		}
		text += length + (text[length] == '\n');
	}
}

/* Replaces serial numbers of s390 by zeros: "processor 0: version = FF,  identification = 279F25,
 * machine = 2817". */
static void hide_identification(char *text)
{
	static const char key[] = "identification = ";

	while ((text = strstr(text, key)))
		for (text += strlen(key); isxdigit((unsigned char)*text); text++)
			*text = '0';
}

/* Appends lines like "processor 7: ..." of s390, whose key has a number. */
static void keep_numbered(struct text *kept, const char *text)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "processor ", 10) != 0 || !isdigit((unsigned char)line[10]))
			continue;
		text_append_n(kept, line, strcspn(line, "\n"));
		text_append(kept, "\n");
	}
}

char *scrub_cpuinfo(const struct scrub_names *names, const char *text)
{
	static const char *const keys[] = { /* x86, LoongArch */
		"processor", "vendor_id", "cpu family", "CPU Family", "model", "model name",
		"Model Name", "stepping", "CPU Revision", "microcode", "cpu MHz", "CPU MHz",
		"cache size", "physical id", "package", "siblings", "core id", "core", "cpu cores",
		"apicid", "initial apicid", "fpu", "cpuid level", "flags", "vmx flags", "bugs",
		"bogomips", "TLB size", "clflush size", "cache_alignment", "address sizes",
		"power management", "system type", "global_id",
		/* Arm */
		"BogoMIPS", "Features", "CPU implementer", "CPU architecture", "CPU variant",
		"CPU part", "CPU revision",
		/* power */
		"cpu", "clock", "revision", "timebase", "platform", "machine", "MMU",
		/* s390 */
		"# processors", "bogomips per cpu", "max thread id", "features", "facilities",
		"cpu number", "cpu MHz dynamic", "cpu MHz static",
		/* RISC-V */
		"hart", "isa", "hart isa", "mmu", "uarch", "mvendorid", "marchid", "mimpid"
	};
	struct text kept = { 0 };
	_cleanup_free_ char *clean = NULL;

	keep_lines(&kept, text, keys, ARRAY_SIZE(keys));
	keep_numbered(&kept, text);
	clean = xptr(text_steal(&kept));
	hide_identification(clean);
	return scrub_own_names(names, clean);
}

char *scrub_sysinfo(const struct scrub_names *names, const char *text)
{
	static const char *const keys[] = { "Manufacturer", "Type", "LPAR Number",
		"VM00 Control Program" };
	struct text kept = { 0 };
	_cleanup_free_ char *clean = NULL;

	keep_lines(&kept, text, keys, ARRAY_SIZE(keys));
	clean = xptr(text_steal(&kept));
	return scrub_own_names(names, clean);
}

char *scrub_swaps(const struct scrub_names *names, const char *text)
{
	struct text clean = { 0 };
	size_t length = strcspn(text, "\n");
	unsigned n = 0;

	(void)names;
	if (strncmp(text, "Filename", strlen("Filename")) == 0) {
		text_append_n(&clean, text, length);
		text_append(&clean, "\n");
		text += length + (text[length] == '\n');
	}
	/* "/dev/sda2   partition\t1048572\t\t0\t\t-2"; blanks in the name are \040. */
	while (*text) {
		size_t name = strcspn(text, " \t\n");

		length = strcspn(text, "\n");
		text_appendf(&clean, "swap%u\t", n++);
		name += strspn(text + name, " \t");
		text_append_n(&clean, text + name, length - name);
		text_append(&clean, "\n");
		text += length + (text[length] == '\n');
	}
	return xptr(text_steal(&clean));
}

char *scrub_everything(const struct scrub_names *names, const char *text)
{
	(void)names;
	(void)text;
	return xptr(strdup("\n"));
}
