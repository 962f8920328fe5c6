// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/binfmts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "measure/program.h"

static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -errno;
	return 0;
}

static int search_path(const char *word, char **ret)
{
	const char *list = getenv("PATH");
	int found = -ENOENT;

	if (!list)
		list = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		const char *end = strchrnul(list, ':');
		_cleanup_free_ char *path = NULL;
		int r;

		/* An empty entry stands for the current folder (execvp(3)). */
		path = xformat("%.*s%s%s", (int)(end - list), list, end > list ? "/" : "./", word);
		r = check_executable(path);
		if (r == 0) {
			*ret = TAKE_PTR(path);
			return 0;
		}
		/* Like in the shell, a file that is not executable matters only if no executable
		 * one is found. */
		if (r == -EACCES)
			found = r;
		if (!*end)
			return found;
		list = end + 1;
	}
}

int program_resolve(const char *word, char **ret)
{
	int r;

	if (!strchr(word, '/'))
		return search_path(word, ret);
	r = check_executable(word);
	if (r == 0)
		*ret = xptr(strdup(word));
	return r;
}

bool program_is_executable(const char *word)
{
	return check_executable(word) == 0;
}

/* Of a name such as "python3.11" the beginning counts. */
static bool runs_others(const char *name)
{
	static const char *const names[] = { "python", "pypy", "perl", "ruby", "node", "bun",
		"deno", "java", "lua", "php", "guile", "bash", "dash", "zsh", "fish", "busybox",
		"sudo", "doas", "setpriv", "chroot", "unshare", "nsenter", "taskset", "numactl",
		"chrt", "nice", "ionice", "nohup", "setsid", "setarch", "stdbuf", "timeout", "time",
		"env", "flock", "perf", "strace", "ltrace", "gdb", "lldb", "rr", "valgrind", "qemu",
		"wine", "mpirun", "srun", "ld-", "ld.so", "xargs", "parallel", "hyperfine",
		"runpinned" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (text_starts_with(name, names[i]))
			return true;
	return strcmp(name, "sh") == 0;
}

bool program_is_of_user(const char *path)
{
	static const char *const system[] = { "/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/",
		"/gnu/", "/snap/" };
	_cleanup_free_ char *real = realpath(path, NULL);
	_cleanup_close_ int fd = real ? open(real, O_RDONLY | O_CLOEXEC) : -EBADF;
	char magic[SELFMAG];

	/* A script may as well be one that runs others. */
	if (fd < 0 || read(fd, magic, sizeof(magic)) != (ssize_t)sizeof(magic) ||
		memcmp(magic, ELFMAG, SELFMAG) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(system); i++)
		if (text_starts_with(real, system[i]))
			return false;
	return !runs_others(strrchr(real, '/') + 1) && !runs_others(basename(path));
}

const char *program_hides_from_perf(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return NULL;
	if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
		(st.st_mode & S_ISGID && st.st_gid != getegid()))
		return "it is setuid or setgid";
	if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) >= 0)
		return "it has file capabilities";
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0)
		return "it may be executed but not read";
	return NULL;
}

int program_hash(const char *path, uint64_t *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t hash = HASH_START;
	uint8_t buf[16 * 1024];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		hash = hash_bytes(hash, buf, (size_t)n);
	if (n < 0)
		return -errno;
	*ret = hash;
	return 0;
}

const char *program_explain_noexec(const char *path)
{
	/* A line that does not end within the first bytes of the file is taken if the interpreter's
	 * path does (fs/binfmt_script.c). */
	char line[BINPRM_BUF_SIZE];
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : pread(fd, line, sizeof(line), 0);

	if (n < 2 || memcmp(line, "#!", 2) != 0)
		return "no program of this machine, and no #! line";
	if (n == sizeof(line) && !memchr(line, '\n', sizeof(line)))
		return "the path in its #! line is too long for the kernel";
	return "its #! line names no interpreter that is a program of this machine";
}
