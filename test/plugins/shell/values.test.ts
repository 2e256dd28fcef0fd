import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createShellWorkspace } from './fixture.js'

const workspace = createShellWorkspace()
for (const name of ['a.txt', 'b.txt', 'sub/c.txt', 'names/-exec', 'list']) workspace.put(name)
symlinkSync('/dev/fd', join(workspace.directory, 'descriptors'))

const reasons = async (command: string) => (await workspace.scan(command)).reasons
/** Whether nothing but an answer lets the line run. */
const asks = async (command: string) => {
  const scan = await workspace.scan(command)
  return scan.reasons.length > 0 || scan.unknownReads.length > 0
}

describe('arithmetic with a value that may hold more than a number needs an answer', () => {
  it.each([
    'a=$(cat f); echo $((a))',
    'read -r a < f; echo $((a + 1))',
    'echo $((HISTSIZE))',
    'echo $(( $1 ))',
    'echo $(( $(cat f) ))',
    'echo $(( "$x" ))',
    'echo $((PATH=10)); ls .',
    'echo $((XDG_CONFIG_HOME=10)); git status',
    '((HOME = 1))',
    'for ((i = n; i < 3; i++)); do true; done',
    'x=$(cat f); [[ $x -eq 1 ]]',
    'x=$(cat f); [[ 1 -lt x ]]',
    'x=$(cat f); [[ -v $x ]]',
    'x=$(cat f); [ -v "$x" ]',
    'x=$(cat f); test -v "$x"',
    'x=$(cat f); echo ${y:$x}',
    'x=$(cat f); echo ${y:x}',
    'x=$(cat f); echo ${y:0:x}',
    'x=$(cat f); echo ${!x}',
    'x=$(cat f); echo ${a[x]}',
    'x=$(cat f); echo ${a[$x]}',
    'x=$(cat f); a[x]=1',
    'x=$(cat f); let y=x',
    'x=$(cat f); let "$x"',
    'x=$(cat f); printf -v "$x" 1',
    'x=$(cat f); printf "$x" 1',
    'x=$(cat f); declare -i y=$x',
    'declare -i y; y=$(cat f)',
    'x=$(cat f); declare "$x"',
    'x=$(cat f); export $x',
    'x=$(cat f); unset "$x"',
    'x=$(cat f); read "$x" < g',
    'x=$(cat f); : ${y:=$((x))}',
    'x=1; x=$(cat f); echo $((x))',
    'x=1; eval "x=y"; echo $((x))',
    'x=1; printf -v x "%s" y; echo $((x))',
    'y=$(cat f); x=$y; echo $((x))',
    'x=1; x+=$(cat f); echo $((x))',
    'unset RANDOM; RANDOM=$(cat f); echo $((RANDOM))',
    'a=(1 $(cat f)); echo $((a))',
    'for i in $(cat f); do echo $((i)); done',
  ])('%s', async (command) => {
    expect(await reasons(command)).not.toEqual([])
  })
})

describe('arithmetic with plain numbers of the line needs none', () => {
  it.each([
    'i=0; while [ $i -lt 10 ]; do i=$((i + 1)); done',
    'for i in 1 2 3; do echo $((i * 2)); done',
    'for ((i=0; i < 3; i++)); do echo $i; done',
    'a=(1 2 3); echo ${a[0]} ${a[@]} ${#a[@]} $((${#a[@]} - 1))',
    'x=5; y=$x; echo $((y % 2)) $((x > 3 ? 1 : 0))',
    'echo $((RANDOM % 10)) $(($# + 1)) $((SECONDS))',
    'x=abc; echo ${x:1:2} ${x: -1} ${x%.c} ${x:-none} ${!x@}',
    'n=3; [[ $n -ge 2 && -f a.txt ]] && echo "${n}"',
    'let n=1+2; echo $n',
  ])('%s', async (command) => {
    expect(await reasons(command)).toEqual([])
  })
})

describe('an operand of a known reader that is only known when it runs', () => {
  it.each(['cat $x', 'cat "$(head -1 list)"', 'grep x $y', 'wc -l < $x', 'find . -name "*.txt" | sort | xargs cat'])(
    'is reading anything: %s',
    async (command) => {
      expect((await workspace.scan(command)).unknownReads).not.toEqual([])
    },
  )

  it.each([
    ['x=/etc/passwd; cat $x', ['/etc/passwd']],
    ['x=/etc/passwd; cat "${x}"', ['/etc/passwd']],
    ['if true; then x=a.txt; else x=/etc/passwd; fi; cat $x', ['/etc/passwd', 'a.txt']],
    ['for f in a.txt /etc/passwd; do cat "$f"; done', ['/etc/passwd', 'a.txt']],
    ['for f in *.txt; do wc -l "$f"; done', ['a.txt', 'b.txt']],
    ['d=sub; cat $d/c.txt', ['sub/c.txt']],
  ])('is what the line set: %s', async (command, expected) => {
    const scan = await workspace.scan(command)
    expect(scan.unknownReads).toEqual([])
    expect(scan.reads.map((path) => path.replace(`${workspace.directory}/`, '')).toSorted()).toEqual(expected)
    expect(scan.outside).toEqual(expected.includes('/etc/passwd') ? ['/etc/*'] : [])
  })

  it.each([
    'x=a.txt; read x < list; cat $x',
    'x=a.txt; eval x=/etc/passwd; cat $x',
    'x=a.txt; IFS=/; cat $x',
    'x="a b"; cat $x',
    'PAGER=x; cat $PAGER',
  ])('is not known where something else may set it: %s', async (command) => {
    expect(await asks(command)).toBe(true)
  })
})

describe('a word that may be an option needs an answer where options decide', () => {
  it.each([
    'x=$(cat f); find . $x',
    'x=$(cat f); git $x status',
    'x=$(cat f); git log "$x"',
    'x=$(cat f); sort "$x"',
    'x=$(cat f); tar cf a.tar $x',
    'cd names; find *',
    'x=$(cat f); sed "$x" a.txt',
    'x=$(cat f); awk "$x" a.txt',
    'rg --pre ./run x',
  ])('%s', async (command) => {
    expect(await reasons(command)).not.toEqual([])
  })

  it.each([
    'git commit -m "$(cat list)"',
    'x=$(cat f); git log -- "$x"',
    'x=main; git checkout $x',
    'x=$(cat f); git add "src/$x"',
    'find . -name "$x"',
  ])('and none elsewhere: %s', async (command) => {
    expect(await reasons(command)).toEqual([])
  })
})

describe('a descriptor under the name of a file', () => {
  it.each([
    'echo x 8<$y >/dev/fd/8',
    'echo x 8<a.txt >/dev/fd/8',
    'echo x >/dev/stdin < a.txt',
    'echo x 1<a.txt >/dev/stdout',
    'exec 8<a.txt; echo x 1<&8 >/dev/fd/1',
    '{ echo x >/dev/stdout; } 8<a.txt 1>&8',
    'echo x | tee /dev/fd/8',
    'cd /dev; echo x >fd/8',
    'echo x > //dev/./fd/8',
    'echo x > /proc/self/fd/8',
    'echo x > /proc/$$/fd/8',
    'cat /proc/self/root/etc/passwd',
    'echo x > descriptors/8',
    'cat {fd}<a.txt',
    'exec {fd}<a.txt',
  ])('needs an answer: %s', async (command) => {
    expect(await reasons(command)).not.toEqual([])
  })

  it.each([
    'echo x >/dev/stderr',
    'echo x >&2',
    'make 2>&1 | tee /dev/stderr',
    'cat /dev/stdin < a.txt',
    'diff <(sort a.txt) /dev/stdin < b.txt',
    'echo x >/dev/null',
  ])('is what it was opened for: %s', async (command) => {
    expect(await reasons(command)).toEqual([])
  })
})

describe('the environment of a program', () => {
  it.each([
    'XDG_CONFIG_HOME=$PWD/x git status -s',
    'GIT_TRACE=$HOME/.profile git status -s',
    'GIT_TRACE=1 git status',
    'FOO=1 make',
    'env FOO=1 make',
    'export FOO=1; make',
    'FOO=1; export FOO; make',
    'declare -x FOO=1; make',
    'XDG_CONFIG_HOME=$PWD/x; git status -s',
    'read XDG_CONFIG_HOME < f; git status',
    'for XDG_CONFIG_HOME in x; do git status; done',
    ': ${XDG_CONFIG_HOME:=x}; git status',
    'set -a; FOO=1; make',
    'TZ=:/etc/passwd date',
    'LANG=../../x ls',
    'LC_ALL=$(cat f) ls',
    'PAGER=./x git log',
  ])('is set by an answer only: %s', async (command) => {
    expect(await reasons(command)).not.toEqual([])
  })

  it.each([
    'LC_ALL=C sort a.txt',
    'LANG=de_DE.UTF-8 TZ=Europe/Berlin date',
    'NO_COLOR=1 CI=true NODE_ENV=test npm test',
    'GIT_PAGER=cat git log',
    'GIT_AUTHOR_NAME="A B" git commit -m x',
    'foo=1; echo $foo',
    'export CI=1; npm test',
    'IFS=, read -r a b < list',
  ])('may be told harmless things: %s', async (command) => {
    expect(await reasons(command)).toEqual([])
  })
})

describe('a program is its path, and its words', () => {
  it.each([
    ['./cd x', ['./cd x', 'cd x']],
    ['/bin/cd x', ['/bin/cd x', 'cd x']],
    ['chdir x', ['chdir x']],
    ['"ls x"', ["'ls x'"]],
    ["git 'push --force'", ["git 'push --force'"]],
    ["git '' push", ["git '' push"]],
    ["grep 'it'\\''s here' f", ["grep 'it'\\''s here' f"]],
  ])('%s', async (command, expected) => {
    expect((await workspace.scan(command)).segments.map(({ text }) => text)).toEqual(expected)
  })
})

it('judges no line longer than its limit', async () => {
  expect(await reasons(`echo ${'a'.repeat(17_000)}`)).toEqual(['the command is longer than 16384 characters'])
})
