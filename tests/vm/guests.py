# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests of the lab: Debian releases that mmdebstrap puts together, and quiesce built for each.

A guest consists of a tree (the release with a compiler and our libraries), and of a disk image of
the same files. Both are made once per recipe and kept in the cache:

    ~/.cache/quiesce-vm/NAME-HASH/{tree,root.img,vmlinuz,initrd.img}
    ~/.cache/quiesce-vm/packages/NAME/      packages as downloaded, for the next recipe
    ~/.cache/quiesce-vm/build/CHECKOUT/NAME-HASH/   quiesce, built in the tree for its libraries, or
                                            unpacked from the packages for the guest's release

No root is needed: without it mmdebstrap uses what it finds (namespaces, or fakechroot), fakeroot
keeps the owners of files, and the build runs in a user namespace.
"""

import contextlib
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache',
                     'quiesce-vm')
ROOT = os.geteuid() == 0

# What the tests and the boot need; what the build needs is said by ./bootstrap.
KERNEL = 'linux-image-amd64'
PACKAGES = ('systemd systemd-sysv dbus ' + KERNEL + ' initramfs-tools kmod udev procps util-linux '
            'busybox zstd python3 irqbalance').split()
# Drivers of things that the guest has not: half of the tree, and most of the time it takes.
UNUSED = ('drivers/gpu', 'drivers/media', 'drivers/net/wireless', 'drivers/infiniband', 'sound')
# Work that a guest would begin by itself in the middle of a test.
MASKED = ('apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer '
          'fstrim.timer systemd-tmpfiles-clean.timer').split()
NO_NETWORK = (r'Could not (resolve|connect)|Temporary failure|Connection (failed|timed out|refused)|'
              r'Network is unreachable|Unable to connect')
DAYS_UNUSED = 14  # after that, what nobody used goes


class Unavailable(Exception):
    """Something of the host's is missing, or cannot be had: tests are skipped for that reason."""


class Broken(Exception):
    """It should have worked."""


@dataclasses.dataclass(frozen=True)
class Guest:
    name: str
    suite: str
    boots: tuple
    kernel: str = KERNEL   # another one in its place
    without: tuple = ()    # packages that this release has not
    packages: tuple = ()   # and others
    options: tuple = ()    # for mmdebstrap
    must: bool = True      # a release in development may be impossible to install today
    spare: bool = False    # made when it is asked for


# What a boot adds to the kernel's command line.
BOOTS = {
    'plain': '',
    'isolated': 'isolcpus=1,3 nohz_full=1,3 rcu_nocbs=1,3',
    'cgroup-v1': 'systemd.unified_cgroup_hierarchy=0',
}

GUESTS = {guest.name: guest for guest in (
    Guest('debian12', 'bookworm', ('plain', 'isolated', 'cgroup-v1')),
    Guest('debian13', 'trixie', ('plain', 'isolated')),
    # Of Debian's kernels the one with the osnoise tracer.
    Guest('realtime', 'trixie', ('plain',), kernel='linux-image-rt-amd64', spare=True),
    # A cluster of one node.
    Guest('slurm', 'bookworm', ('plain',), packages=('iproute2', 'munge', 'slurm-wlm'), spare=True),
    # For bench/noise --lab.
    Guest('bench', 'bookworm', ('plain', 'cgroup-v1'), packages=('cpuset', 'stress-ng'),
          spare=True),
    # No libcpuset any more. The clock of a machine may be behind that of the archive.
    Guest('newest', 'testing', ('plain',), without=('libbitmask-dev', 'libcpuset-dev'),
          options=('--aptopt=Acquire::Check-Valid-Until "false"',), must=False),
)}


def say(text):
    """Tells a person what takes its time."""
    print(f'vm: {time.strftime("%H:%M:%S")} {text}', file=sys.stderr, flush=True)


def need(program, package):
    """Finds a program of the host; ordinary users seldom have the sbin folders in their path."""
    path = shutil.which(program, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')
    if path is None:
        raise Unavailable(f'{program} is missing (package {package})')
    return path


@contextlib.contextmanager
def lock(path, how, busy=None):
    """Holds a lock file; `busy` is said if somebody else has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open('a', encoding='utf-8') as file:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if busy is None:
                raise
            say(busy)
            fcntl.flock(file, how)
        os.utime(path)
        yield


def run(arguments, log, **options):
    """Runs a program with its output in a log file. Returns whether it succeeded."""
    with log.open('ab') as file:
        return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=file,
                              stderr=subprocess.STDOUT, check=False, **options).returncode == 0


def tail(path, lines=15):
    text = path.read_text(encoding='utf-8', errors='replace') if path.exists() else ''
    return '\n'.join(text.rstrip().splitlines()[-lines:])


def build_packages():
    """What ./bootstrap installs to build: one list for both."""
    output = subprocess.run([TOP / 'bootstrap', 'packages'], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    return output.split()


def recipe(guest):
    """The arguments of mmdebstrap, without those that depend on where files are."""
    packages = [guest.kernel if p == KERNEL else p for p in PACKAGES + build_packages()
                if p not in guest.without] + list(guest.packages)
    arguments = ['--variant=minbase', '--include=' + ','.join(packages), *guest.options]
    for folder in ('man', 'doc', 'locale', 'info'):
        arguments.append(f'--dpkgopt=path-exclude=/usr/share/{folder}/*')
    for folder in UNUSED:
        # The archive moves from /lib to /usr/lib.
        arguments += [f'--dpkgopt=path-exclude={prefix}/lib/modules/*/kernel/{folder}/*'
                      for prefix in ('', '/usr')]
    arguments += [
        '--essential-hook=mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/etc/initramfs-tools/hooks"',
        '--essential-hook=echo MODULES=list >"$1/etc/initramfs-tools/conf.d/lab"',
        '--customize-hook=chroot "$1" systemctl disable irqbalance.service',
        '--customize-hook=chroot "$1" systemctl mask ' + ' '.join(MASKED),
        '--customize-hook=chroot "$1" passwd -d root',
        '--customize-hook=echo lab >"$1/etc/hostname"',
    ]
    return arguments


def find_packages(suite, folder):
    """The packages of quiesce in the folder, which suit a guest of the host's own release only. None
    without a folder."""
    with contextlib.suppress(OSError):
        if folder and platform.freedesktop_os_release().get('VERSION_CODENAME') == suite:
            return sorted(path for path in pathlib.Path(folder).glob('*.deb') if 'dbgsym' not in path.name)
    return []


class Cached:
    """A guest in the cache; `ready` makes it if it is not there."""

    def __init__(self, name):
        self.guest = GUESTS[name]
        self.recipe = recipe(self.guest)
        files = [(HERE / 'image' / name).read_bytes() for name in ('lab-init', 'initramfs-hook')]
        seen = hashlib.sha256(repr((self.guest.suite, self.recipe, files, ROOT)).encode())
        self.dir = CACHE / f'{name}-{seen.hexdigest()[:12]}'
        self.tree = self.dir / 'tree'
        self.log = CACHE / f'{name}.log'

    @contextlib.contextmanager
    def ready(self):
        """The guest is there, and stays there while in use."""
        for program, package in (('mmdebstrap', 'mmdebstrap'), ('mke2fs', 'e2fsprogs'),
                                 ('unshare', 'util-linux'),
                                 *(() if ROOT else [('fakeroot', 'fakeroot')])):
            need(program, package)
        name = self.guest.name
        with lock(CACHE / f'{name}.lock', fcntl.LOCK_EX, f'{name}: somebody else is making it'):
            if not self.dir.exists():
                self.make()
            self.forget_others()
            used = contextlib.ExitStack()
            used.enter_context(lock(self.dir.with_suffix('.used'), fcntl.LOCK_SH, 'in use'))
        with used:
            yield

    def make(self):
        """Takes two minutes or so; the next time most of the packages are there already."""
        guest = self.guest
        part, packages = self.dir.with_suffix('.part'), CACHE / 'packages' / guest.name
        remove(part)
        fetched = part / 'packages'
        fetched.mkdir(parents=True)
        packages.mkdir(parents=True, exist_ok=True)
        self.log.write_text('', encoding='utf-8')
        say(f'{guest.name}: mmdebstrap installs Debian {guest.suite}, see {self.log}')
        if not run(['mmdebstrap', *self.recipe,
                    f'--essential-hook=copy-in {HERE}/image/initramfs-hook '
                    '/etc/initramfs-tools/hooks',
                    f'--customize-hook=copy-in {HERE}/image/lab-init /usr/sbin',
                    '--skip=essential/unlink',
                    '--setup-hook=mkdir -p "$1/var/cache/apt/archives"',
                    f'--setup-hook=sync-in {packages} /var/cache/apt/archives',
                    f'--customize-hook=sync-out /var/cache/apt/archives {fetched}',
                    guest.suite, part / 'root.tar'], self.log):
            said = tail(self.log)
            remove(part)
            network = [line for line in said.splitlines() if re.search(NO_NETWORK, line)]
            if network:
                raise Unavailable(f'{guest.name}: no network: {network[0].strip()}')
            if not guest.must:
                raise Unavailable(f'{guest.name}: cannot be installed today, see {self.log}')
            raise Broken(f'{guest.name}: mmdebstrap failed:\n{said}')

        say(f'{guest.name}: making its disk')
        script = ('mkdir tree && tar -xf root.tar -C tree --exclude="./dev/*" && '
                  'mke2fs -q -F -t ext4 -d tree root.img 4G')
        if not run([*([] if ROOT else ['fakeroot']), 'sh', '-c', script], self.log, cwd=part,
                   env={**os.environ, 'PATH': os.environ.get('PATH', '') + ':/usr/sbin:/sbin'}):
            raise Broken(f'{guest.name}: no disk:\n{tail(self.log)}')
        for name in ('vmlinuz', 'initrd.img'):
            shutil.copyfile(max((part / 'tree/boot').glob(f'{name}-*')), part / name)
        (part / 'root.tar').unlink()
        for old in packages.glob('*.deb'):
            old.unlink()
        for new in fetched.glob('*.deb'):
            new.rename(packages / new.name)
        remove(fetched)
        part.rename(self.dir)

    def forget_others(self):
        """Older recipes of this guest, and builds of checkouts that are gone, unless somebody used
        them lately or does so now."""
        name = f'{self.guest.name}-????????????'
        for used in (*CACHE.glob(f'{name}.used'), *CACHE.glob(f'build/*/{name}.used')):
            other = used.with_suffix('')
            if other != self.dir and time.time() - used.stat().st_mtime > DAYS_UNUSED * 86400:
                with contextlib.suppress(BlockingIOError), lock(used, fcntl.LOCK_EX):
                    say(f'removing {other}, unused for {DAYS_UNUSED} days')
                    remove(other)
                    used.unlink()

    def build(self, work, log):
        say(f'{self.guest.name}: building quiesce in it, see {log}')
        unshare = ['unshare', '--mount', *([] if ROOT else ['--map-root-user'])]
        if not run([*unshare, '--', 'sh', '-euc', BUILD, 'sh', self.tree, TOP, work], log):
            raise Broken(f'{self.guest.name}: the build failed:\n{tail(log, 40)}')

    def unpack(self, packages, folder, log):
        say(f'{self.guest.name}: quiesce as packaged in {packages[0].parent}')
        remove(folder)
        for package in packages:
            if not run(['dpkg-deb', '--extract', package, folder], log):
                raise Broken(f'{self.guest.name}: {package} cannot be unpacked:\n{tail(log)}')

    @contextlib.contextmanager
    def installed(self):
        """Installs quiesce into a folder, which stays as it is as long as the context lasts: from the
        packages that have just been built for the release of the guest ($BUILT_PACKAGES), or built with
        the compiler and the libraries of the guest."""
        packages = find_packages(self.guest.suite, os.environ.get('BUILT_PACKAGES'))
        checkout = hashlib.sha256(str(TOP).encode()).hexdigest()[:12]
        work = CACHE / 'build' / checkout / self.dir.name
        with lock(work.with_suffix('.used'), fcntl.LOCK_EX, f'{self.guest.name}: being built'):
            work.mkdir(exist_ok=True)
            log = work.with_suffix('.log')
            log.write_text('', encoding='utf-8')
            if packages:
                self.unpack(packages, work / 'installed', log)
            else:
                self.build(work, log)
            yield work / 'installed'


# In a mount namespace of its own: $1 is the tree, $2 the sources, $3 where it is built.
BUILD = """
mount --rbind /dev "$1/dev"
mount --rbind /proc "$1/proc"
mount --bind "$2" "$1/mnt"
mount --bind "$3" "$1/srv"
exec chroot "$1" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/ LC_ALL=C.UTF-8 sh -euc '
    set -- --prefix=/usr --sysconfdir=/etc --localstatedir=/var -Dtests=false -Dman=disabled -Ddebug=false
    # Where programs are built now there were folders of their names.
    [ ! -d /srv/build/src/runpinned ] || rm -rf /srv/build/src
    if [ -e /srv/build/build.ninja ]; then
        meson setup --reconfigure "$@" /srv/build /mnt
    else
        meson setup "$@" /srv/build /mnt
    fi
    meson compile -C /srv/build
    rm -rf /srv/installed
    meson install --no-rebuild --quiet -C /srv/build --destdir /srv/installed'
"""


def remove(path):
    """Removes a tree, also one with folders that their owner may not write to."""
    if path.exists():
        subprocess.run(['chmod', '-R', 'u+rwX', path], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(path)
