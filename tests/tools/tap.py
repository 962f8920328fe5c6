# SPDX-License-Identifier: GPL-2.0-or-later
"""A TAP test that tells what is wrong with each of its subjects."""


class Tap:
    count = 0
    failed = False

    def report(self, name, *problems):
        """problems: texts; an empty one or None is no problem."""
        self.count += 1
        problems = [problem for problem in problems if problem]
        print('not ok' if problems else 'ok', self.count, '-', name)
        for problem in problems:
            print('#', '\n# '.join(str(problem).splitlines()))
        self.failed |= bool(problems)

    def skip(self, name, why):
        self.count += 1
        print('ok', self.count, '-', name, '# SKIP', why)

    def end(self):
        """Prints how many there were. Returns the exit status."""
        print(f'1..{self.count}')
        return 1 if self.failed else 0
