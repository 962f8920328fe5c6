# SPDX-License-Identifier: GPL-2.0-or-later
"""What lies between the stamps, read from the machine code of the examples. A TAP test.

    test_stamps.py OBJDUMP PROGRAM:CALL,... ...

In each function of a program that has a begin stamp, every path from it must come to an end stamp
without a call, a return, a trap, a jump out of the function, or a write to memory. Calls that are
the work itself are named behind the program. Stamps are found by their instructions: x86-64 and
arm64.
"""

import os
import re
import subprocess
import sys

LINE = re.compile(r'\s*([0-9a-f]+):\s+(\S.*)')
FUNCTION = re.compile(r'[0-9a-f]+ <(.+)>:')
TARGET = re.compile(r'(?:0x)?([0-9a-f]+)\s+<')

# x86, AT&T order: the last operand is the target, but not of these.
READS_ONLY = re.compile(r'cmp|test|nop|lea|prefetch|u?comis|v?u?comis|mul|imul|div|idiv|bt[bwlq]?$|'
                        r'jmp|ldmxcsr|fld|endbr|data16')
PREFIX = re.compile(r'(?:rep[nz]*|repnz|repz|lock|bnd|notrack|cs|ds|data16)\s+')


class X86:
    @staticmethod
    def begins(code, i):
        return [word for word, _ in code[i:i + 3]] == ['lfence', 'rdtsc', 'lfence']

    begin_length = 3

    @staticmethod
    def ends(code, i):
        return code[i][0] == 'rdtscp'

    @staticmethod
    def kind(word, operands):
        if word.startswith('call'):
            return 'call'
        if re.match(r'ret|iret|syscall|sysenter|int3?$|hlt|ud2', word):
            return 'leave'
        if word.startswith('jmp'):
            return 'jump'
        if word.startswith(('j', 'loop')):
            return 'branch'
        if word.startswith(('push', 'stos', 'movs', 'enter', 'xsave', 'fxsave')) \
                and not word.startswith(('movsb', 'movsw', 'movsl', 'movss', 'movsd', 'movsx',
                                         'movshdup', 'movsldup')):
            return 'write'
        if READS_ONLY.match(word) and not (word.startswith('imul') and operands.count(',') > 0):
            return 'plain'
        # Commas in parentheses belong to an address.
        last = re.split(r',(?![^(]*\))', operands)[-1].strip()
        first = re.split(r',(?![^(]*\))', operands)[0].strip()
        if is_memory(last) or (word.startswith(('xchg', 'xadd')) and is_memory(first)):
            return 'write'
        return 'plain'


def is_memory(operand):
    """%fs:0x28, 0x8(%rsp), 0x1234 without $; but neither $5 nor %rax nor an empty operand."""
    return '(' in operand or bool(re.match(r'(?:%[c-gs]s:)?-?(?:0x)?[0-9a-f]+(?:\s|$)', operand))


class Arm64:
    @staticmethod
    def is_read(code, i):
        return 0 <= i < len(code) and code[i][0] == 'mrs' and 'cntvct_el0' in code[i][1].lower()

    @classmethod
    def begins(cls, code, i):
        return code[i][0] == 'isb' and cls.is_read(code, i + 1) and code[i + 2][0] == 'isb'

    begin_length = 3

    @classmethod
    def ends(cls, code, i):
        return code[i][0] == 'isb' and cls.is_read(code, i + 1) and code[i + 2][0] != 'isb'

    @staticmethod
    def kind(word, _):
        if word in ('bl', 'blr') or word.startswith('blra'):
            return 'call'
        if re.match(r'ret|eret|svc|hvc|smc|brk|hlt|udf|wfi|wfe', word):
            return 'leave'
        if word == 'b' or word == 'br' or word.startswith('bra'):
            return 'jump'
        if re.match(r'b\.|cbn?z|tbn?z', word):
            return 'branch'
        if re.match(r'st|cas|swp|ld(?:add|clr|set|eor|smax|smin|umax|umin)|dc$|cpy|set[pme]', word):
            return 'write'
        return 'plain'


def functions(text):
    """Yields name and [(address, word, operands)]."""
    name, code = None, []
    for line in text.splitlines():
        match = FUNCTION.match(line)
        if match:
            if name:
                yield name, code
            name, code = match.group(1), []
            continue
        match = LINE.match(line)
        if match and name:
            instruction = PREFIX.sub('', re.sub(r'(?:\s\s+|\t)(?:#|//|;).*', '', match.group(2)))
            word, *operands = instruction.split(maxsplit=1)
            code.append((int(match.group(1), 16), word, operands[0] if operands else ''))
    if name:
        yield name, code


def check_function(arch, name, code, calls):
    """Yields what is wrong; counts[0] is how many begin stamps there are."""
    words = [(word, operands) for _, word, operands in code]
    words += [('', '')] * 3
    index = {address: i for i, (address, _, _) in enumerate(code)}
    for start in range(len(code)):
        if not arch.begins(words, start):
            continue
        todo, seen, ended = [start + arch.begin_length], set(), False
        while todo:
            i = todo.pop()
            if i in seen:
                continue
            seen.add(i)
            if i >= len(code):
                yield f'{name}: runs out of the function'
                continue
            address, word, operands = code[i]
            where = f'{name}+{address - code[0][0]:#x}: {word} {operands}'
            if arch.ends(words, i):
                ended = True
                continue
            if arch.begins(words, i):
                yield f'{where}: a second begin'
                continue
            kind = arch.kind(word, operands)
            if kind == 'leave':
                yield f'{where}: leaves'
                continue
            if kind == 'call':
                callee = re.search(r'<([^>@+]+)', operands)
                if not callee or callee.group(1) not in calls:
                    yield f'{where}: a call'
            if kind == 'write':
                yield f'{where}: a write'
            if kind in ('jump', 'branch'):
                target = TARGET.search(operands)
                to = index.get(int(target.group(1), 16)) if target else None
                if to is None:
                    yield f'{where}: a jump out'
                else:
                    todo.append(to)
            if kind != 'jump':
                todo.append(i + 1)
        if not ended:
            yield f'{name}: comes to no end stamp'


def check(text, calls):
    """(number of begin stamps, problems)"""
    arch = Arm64 if re.search(r'file format elf64-(?:little)?aarch64', text) else X86
    stamps, problems = 0, []
    for name, code in functions(text):
        words = [(word, operands) for _, word, operands in code] + [('', '')] * 3
        stamps += sum(arch.begins(words, i) for i in range(len(code)))
        problems += check_function(arch, name, code, calls)
    return stamps, problems


def sample(lines, arm=False):
    text = 'x: file format elf64-littleaarch64\n' if arm else 'x: file format elf64-x86-64\n'
    text += '0000000000001000 <f>:\n'
    for i, line in enumerate(lines):
        text += f'    {0x1000 + 4 * i:x}:\t{line}\n'
    return text


BEGIN = ['lfence', 'rdtsc', 'lfence']
END = ['rdtscp', 'lfence', 'mov    %rax,(%rbx)', 'ret']
ARM_BEGIN = ['isb', 'mrs\tx0, cntvct_el0', 'isb']
ARM_END = ['isb', 'mrs\tx1, cntvct_el0', 'str\tx1, [x2]', 'ret']
GOOD = (
    BEGIN + ['mov    (%rdi),%eax', 'add    $0x1,%eax', 'cmp    %rax,0x8(%rsp)',
             'jne    100c <f+0xc>', 'lea    0x8(%rdi),%rdx', 'nopw   0x0(%rax,%rax,1)',
             'imul   (%rdi),%eax', 'call   900 <memcpy@plt>', 'cs nopw 0x0(%rax,%rax,1)',
             'movss  (%rax),%xmm0', 'movslq (%rax),%rdx', 'movzbl (%rax,%rcx,4),%edx'] + END,
)
BAD = tuple(BEGIN + [line] + END for line in (
    'mov    %eax,(%rdi)', 'mov    %rax,0x8(%rsp)', 'add    $0x1,(%rdi)', 'push   %rbx',
    'call   900 <puts@plt>', 'call   *%rax', 'syscall', 'ret', 'jmp    900 <g>', 'jmp    *%rax',
    'je     900 <g>', 'movups %xmm0,(%rax)', 'rep stos %rax,%es:(%rdi)', 'xchg   (%rax),%rdx',
    'lock incl (%rax)', 'mov    %eax,%fs:0x28', 'mov    %eax,0x2ee4(%rip)        # 4010 <x>',
    'movsq  %ds:(%rsi),%es:(%rdi)', 'movss  %xmm0,(%rax)', 'incq   0x8(%rax)')) + (
    BEGIN + ['nop'],
    BEGIN + BEGIN + END,
)
ARM_GOOD = (
    ARM_BEGIN + ['ldr\tw3, [x0, x1, lsl #2]', 'cbnz\tx1, 100c <f+0xc>', 'b.ne\t100c <f+0xc>  // b.any',
                 'tbz\tw1, #31, 100c <f+0xc>', 'mov\tx3, #0x0                   \t// #0', 'bl\t900 <memcpy@plt>', 'subs\tx1, x1, #0x1'] + ARM_END,
)
ARM_BAD = tuple(ARM_BEGIN + [line] + ARM_END for line in (
    'str\tx0, [sp, #8]', 'stp\tx0, x1, [sp]', 'bl\t900 <puts@plt>', 'blr\tx3', 'svc\t#0x0', 'ret',
    'b\t900 <g>', 'b.eq\t900 <g>', 'br\tx3', 'stur\tx0, [x1]', 'ldadd\tw0, w1, [x2]'))


def main():
    objdump, programs = sys.argv[1], sys.argv[2:]
    count, failed = 0, False

    def report(name, problems):
        nonlocal count, failed
        count += 1
        print('not ok' if problems else 'ok', count, '-', name)
        for problem in problems:
            print('#', problem)
        failed |= bool(problems)

    problems = []
    for lines, arm, wanted in [(s, False, False) for s in GOOD] + [(s, False, True) for s in BAD] + \
            [(s, True, False) for s in ARM_GOOD] + [(s, True, True) for s in ARM_BAD]:
        stamps, found = check(sample(lines, arm), {'memcpy'})
        if stamps == 0 or bool(found) != wanted:
            problems.append(f'{lines} gives {stamps} stamps and {found}')
    report('samples are judged as meant', problems)

    for program in programs:
        path, _, calls = program.rpartition(':')
        result = subprocess.run([objdump, '-d', '--no-show-raw-insn', path], capture_output=True,
                                text=True, check=False, env=dict(os.environ, LC_ALL='C'))
        stamps, found = check(result.stdout, set(filter(None, calls.split(','))))
        if result.returncode != 0:
            found.append(f'{objdump}: {result.stderr}')
        if stamps == 0:
            found.append('no begin stamp')
        report(f'{os.path.basename(path)}: nothing between its stamps but its work', found)
    print(f'1..{count}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
