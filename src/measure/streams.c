// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/say.h"
#include "measure/lastwords.h"
#include "measure/streams.h"

static int open_stream(const char *path, int flags, struct stat *ret)
{
	_cleanup_close_ int fd = file_open_at_once(path, flags);

	if (fd < 0)
		return fd;
	return fstat(fd, ret) < 0 ? -errno : TAKE_FD(fd);
}

static int open_input(const char *path, struct stat *ret_stat)
{
	_cleanup_close_ int fd = open_stream(path, O_RDONLY, ret_stat);

	if (fd >= 0 && S_ISDIR(ret_stat->st_mode)) {
		say_errno(EISDIR, "cannot read %s (--input)", path);
		return -EISDIR;
	}
	if (fd < 0) {
		say_errno(fd, "cannot read %s (--input)", path);
		return fd;
	}
	if (lseek(fd, 0, SEEK_SET) < 0) {
		say("cannot take %s for --input: each run reads it from its start, and it has none",
			path);
		return -ESPIPE;
	}
	return TAKE_FD(fd);
}

static int open_output(const char *path, bool is_read, struct stat *ret_stat)
{
	_cleanup_close_ int fd =
		open_stream(path, (is_read ? O_RDWR : O_WRONLY) | O_CREAT, ret_stat);

	if (fd < 0) {
		say_errno(fd, "cannot write %s (--stdout)", path);
		return fd;
	}
	if (is_read && !S_ISREG(ret_stat->st_mode)) {
		say("cannot take %s for --stdout: figures are read in a file", path);
		return -EINVAL;
	}
	if (!S_ISREG(ret_stat->st_mode) && !S_ISCHR(ret_stat->st_mode)) {
		say("cannot take %s for --stdout: it is neither a file nor a device", path);
		return -EINVAL;
	}
	return TAKE_FD(fd);
}

/* Somebody who types `runpinned wc -c <data` would measure an empty input without a word. */
void streams_warn_of_unread_input(void)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0)
		return;
	if (S_ISREG(st.st_mode))
		say("warning: standard input is a file, which no program reads here: --input /dev/stdin "
		    "gives it to each run");
	else if (S_ISFIFO(st.st_mode))
		say("warning: standard input is a pipe, which no program reads here: --input FILE gives "
		    "each run a file");
}

/* Says when the file cannot be made. */
static int check_new_output(const char *path)
{
	int r = file_check_new(path);

	if (r < 0)
		say_errno(r, "cannot write %s (--stdout)", path);
	return r;
}

int streams_open(const char *input_file, const char *output_file, bool make, bool read_output,
	struct streams *ret)
{
	_cleanup_close_ int input = -EBADF, output = -EBADF;
	struct stat in, out;

	if (input_file) {
		input = open_input(input_file, &in);
		if (input < 0)
			return input;
	}
	if (output_file && !make && access(output_file, F_OK) < 0) {
		int r = check_new_output(output_file);

		if (r < 0)
			return r;
	} else if (output_file) {
		output = open_output(output_file, read_output, &out);
		if (output < 0)
			return output;
	}
	if (!output_file && read_output) {
		output = lastwords_open("stdout");
		if (output < 0) {
			say_errno(output, "cannot make a file for standard output");
			return output;
		}
	}
	if (input >= 0 && output_file && output >= 0 && S_ISREG(in.st_mode) &&
		in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
		say("--input and --stdout are the same file, which is emptied before each run");
		return -EINVAL;
	}
	*ret = (struct streams){
		.input = input >= 0 ? TAKE_FD(input) : 0,
		.output = output >= 0 ? TAKE_FD(output) : 0,
	};
	return 0;
}

void streams_close(struct streams *streams)
{
	if (streams->input > 0)
		close(streams->input);
	if (streams->output > 0)
		close(streams->output);
	*streams = (struct streams){ 0 };
}
