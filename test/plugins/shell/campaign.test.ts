import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isHarmlessAwk } from '../../../src/plugins/shell/programs/awk-script.js'
import { createShellWorkspace } from './fixture.js'

const workspace = createShellWorkspace()
const { directory } = workspace
for (const name of ['a.txt', 'b.txt', 'sub/c.txt', 'names/-exec', 'list']) workspace.put(name)
symlinkSync('../outside', join(directory, 'linked'))

const reasons = async (command: string) => (await workspace.scan(command)).reasons
const relative = (paths: readonly string[]) => paths.map((path) => path.replace(`${directory}/`, ''))

describe('what a campaign found needs an answer', () => {
  it.each([
    'a=([$(cat list)]=1)',
    'x=$(cat list); a=(["$x"]=1)',
    'a=([x y]=1)',
    'x=$(cat list); declare -a a="$x"',
    'x=$(cat list); f() { local -a a="$x"; }; f',
    'a=(1); x=$(cat list); declare a="$x"',
    'x=$(cat list); declare -A m="$x"',
    'x=$(cat list); declare -a l; declare l=$x',
    'a[0]=1; export a=$(cat list)',
    "readonly -a a='([x]=1)'",
    'history -r list; history',
    'uniq a.txt >&-1',
    'x=$(cat list); find -- . $x',
    'cd names; find -e* marker \\;',
    'awk -f list a.txt',
    'awk -W exec=list',
    'gawk -o a.txt 1 b.txt',
    'git --git-dir=sub status',
    'file -m . a.txt',
    'file -C -m sub',
    'OPTIND=$(cat list); ls',
    'read RANDOM < list',
    'for SECONDS in "$(cat list)"; do :; done',
    'export HISTCMD="$(cat list)"',
    'printf -v SRANDOM %s "$(cat list)"',
    ': "${x:=$\'a[\\x24(marker)]\'}"',
    'echo "${x:-$\'\\140marker\\140\'}"',
  ])('%s', async (command) => {
    expect(await reasons(command)).not.toEqual([])
  })

  it.each([
    'declare -A m=([foo]=1 [bar]="$(cat list)"); echo "${#m[@]}"',
    'a=([0]=x [1]=y); echo "${a[0]}"',
    'f() { local x y; local z="$1"; echo "$z"; }; f a',
    'declare -a a=(x y); echo "${a[@]}"',
    'history | tail -5',
    'echo a{b,c} {1..3}',
    'git -C sub log --oneline -3',
    'file --mime-type -b a.txt',
    'OPTIND=1; getopts ab x -a; echo "$x"',
    'x=ab; echo "${x//$\'\\n\'/ }"',
  ])('and what is like it and harmless does not: %s', async (command) => {
    expect(await reasons(command)).toEqual([])
  })

  it('starts what braces spell', async () => {
    expect((await workspace.scan('find . -maxdepth 0 {-exec,marker,\\;}')).segments.map(({ text }) => text)).toContain('marker')
  })
})

describe('files that options name', () => {
  it.each([
    ['diff --from-file=../x a.txt', ['/*'], []],
    ['grep -f../x a.txt', ['/*'], []],
    ['grep --file=../x a.txt', ['/*'], []],
    ['date -f ../x', ['/*'], []],
    ['hexdump -C -f../x a.txt', ['/*'], []],
    ['xargs -a ../x echo', ['/*'], []],
    ['paste ../x', ['/*'], []],
    ['git -C .. status', ['/*'], []],
    ['git diff --no-index a.txt ../x', ['/*'], []],
    ['git diff a.txt sub/../../home', ['/home/*'], []],
    ['git diff ../hom{e,es}', ['/home/*'], []],
    ['git diff ../h*', ['/home/*'], []],
    ['git diff main feature/x -- a.txt', [], []],
    ['git diff --output=a.txt', [], ['a.txt']],
    ['xxd a.txt -1', [], ['-1']],
    ['xxd -l 16 a.txt', [], []],
    ['split a.txt sub/part', [], ['sub/part']],
    ['split -l 10 a.txt', [], ['x']],
    ['grep --include=*.txt -rn a sub', [], []],
  ])('are read and written: %s', async (command, outside, written) => {
    const scan = await workspace.scan(command)
    const parent = directory.slice(0, directory.lastIndexOf('/'))
    expect({ outside: scan.outside.map((path) => path.replace(parent, '')), writes: relative(scan.writes) }).toEqual({
      outside,
      writes: written,
    })
  })

  it.each(['git diff $(cat list)', 'git diff "$A" a.txt'])('may be anywhere when only running tells: %s', async (command) => {
    expect((await workspace.scan(command)).unknownReads).not.toEqual([])
  })

  it.each(['git diff "$A"', 'git diff $A main'])('are none where names of commits must be meant: %s', async (command) => {
    expect((await workspace.scan(command)).unknownReads).toEqual([])
  })

  it.each(['git diff --no-index trees sub', 'diff -r trees sub', 'diff -rN sub trees/'])(
    'are those in a directory: %s',
    async (command) => {
      workspace.put('trees/.env')
      expect(relative((await workspace.scan(command)).reads)).toContain('trees/.env')
    },
  )

  it.each(['sort --files0-from=list', 'wc --files0-from list', 'find -files0-from list', 'file -f list'])(
    'may name any others: %s',
    async (command) => {
      expect((await workspace.scan(command)).unknownReads).toEqual(['(the names in a file)'])
    },
  )
})

describe('a program of awk', () => {
  it.each([
    '{print $1}',
    '$3 > 5 { print $1 / 2 }',
    '/"/ { n++ } END { print n, (n > 2 ? "a" : "b") }',
    'BEGIN { FS = "|" } /^[a-z]+$/ { printf "%s\\n", $2; if (NR > 3) exit }',
    '{ sub(/a\\/b/, ""); print } # > done',
    'NR==FNR { a[$1]; next } $1 in a || NR >= 10',
    '{ print }\n$1 > 3 { print "x" }',
  ])('may read and print: %s', (program) => {
    expect(isHarmlessAwk(program)).toBe(true)
  })

  it.each([
    '{ print > "x" }',
    '{ print "};" > "x" }',
    '/"/; { print "};" > "x" }',
    '{ print "a",\n"b" >> "x" }',
    '{ print "a" \\\n > "x" }',
    '{ print $1 | "sh" }',
    'BEGIN { system("x") }',
    'BEGIN { while ((getline l < ".env") > 0) print l }',
    'BEGIN { ARGV[1] = "/etc/passwd"; ARGC = 2 } 1',
    '@include "x"',
    '{ if (x) /"/; print ";" > "/x" }',
    '{ print "x',
  ])('needs an answer where it does or may do more: %s', (program) => {
    expect(isHarmlessAwk(program)).toBe(false)
  })
})

describe('what find hands to xargs', () => {
  const used = async (command: string) => {
    const { reads, writes, unknownReads, outside } = await workspace.scan(command)
    return {
      reads: relative(reads)
        .filter((path) => path !== directory)
        .toSorted(),
      writes: relative(writes),
      unknown: unknownReads.length > 0,
      outside: outside.length > 0,
    }
  }

  it.each([
    ["find . -name '*.txt' | xargs grep -n foo", ['a.txt', 'b.txt', 'sub/c.txt']],
    ["find . -type f -name '*.txt' -print0 2>/dev/null | xargs -0 wc -l", ['a.txt', 'b.txt', 'sub/c.txt']],
    ["find sub -name '*.txt' -print0 | xargs -0 -r -n 10 sed -n 1p", ['sub', 'sub/c.txt']],
    ['find sub | timeout 5 xargs head', ['sub', 'sub/c.txt']],
    ["find sub -iname '*.TXT' | xargs -I{} echo {}", ['sub']],
  ])('is what it finds now: %s', async (command, reads) => {
    expect(await used(command)).toEqual({ reads, writes: [], unknown: false, outside: false })
  })

  it('is judged file by file: links, secrets, and what is removed', async () => {
    workspace.put('found/.env')
    symlinkSync('/etc/passwd', join(directory, 'found/link.txt'))
    expect(await used("find found -name '*.txt' | xargs cat")).toMatchObject({ reads: ['/etc/passwd', 'found'], outside: true })
    expect((await used('find found -type f -print0 | xargs -0 cat')).reads).toContain('found/.env')
    expect(await used("find sub -name '*.txt' -print0 | xargs -0 rm")).toMatchObject({ writes: ['sub/c.txt'] })
    expect((await workspace.scan("find sub -name '*.txt' -print0 | xargs -0 rm")).reasons).toEqual([])
  })

  it.each([
    "find . -print -name '*.txt' | xargs cat",
    "find . ! -name '*.txt' | xargs cat",
    "find . -name '*.txt' -o -name x | xargs cat",
    "find -L . -name '*.txt' | xargs cat",
    "find . -name '*.txt' -printf /etc/passwd | xargs cat",
    "find $x -name '*.txt' | xargs cat",
    'find . -name *.txt | xargs cat',
    "find . -name '*.txt' -print0 | xargs cat",
    "find . -name '*.txt' | xargs -0 cat",
    "find . -name '*.txt' | xargs -a list cat",
    "find . -name '*.txt' | xargs cat < list",
    "find . -name '*.txt' | xargs cat <<< /etc/passwd",
    "find . -name '*.txt' |& xargs cat",
    "find . -name '*.txt' | head -c 9 | xargs cat",
    "find . -name '*.txt' | { read -n 3; xargs cat; }",
    "find() { echo /etc/passwd; }; find . -name '*.txt' | xargs cat",
    "find . -name '*.txt' | xargs diff a.txt",
    "cd sub || cd names; find . -name '*.txt' | xargs cat",
  ])('is not known where something else decides: %s', async (command) => {
    const { unknownReads, reasons: found } = await workspace.scan(command)
    expect([...unknownReads, ...found]).not.toEqual([])
  })
})

describe('an assignment that may not have run', () => {
  it.each([
    'cat "$d/etc/passwd"; d=sub',
    'false && d=sub; cat "$d/etc/passwd"',
    'true || d=sub; cat "$d/etc/passwd"',
    'if false; then d=sub; fi; cat "$d/etc/passwd"',
    'if d=sub; then :; fi; cat "$d/etc/passwd"',
    'if true; then d=sub; else cat "$d/etc/passwd"; fi',
    '(d=sub); cat "$d/etc/passwd"',
    'd=sub | true; cat "$d/etc/passwd"',
    'd=sub & cat "$d/etc/passwd"',
    'd=sub cat "$d/etc/passwd"',
    'd=sub true; cat "$d/etc/passwd"',
    'd=sub > none/x; cat "$d/etc/passwd"',
    'local d=sub; cat "$d/etc/passwd"',
    'd=sub; f() { local d; cat "$d/etc/passwd"; }; f',
    'd=sub; g() { cat "$d/etc/passwd"; }; f() { local d; g; }; f',
    'd=sub; bash -c \'cat "$d/etc/passwd"\'',
    'f() { local d=sub; trap \'cat "$d/etc/passwd"\' EXIT; }; f',
    'for d in no*thing; do :; done; cat "$d/etc/passwd"',
    '{ false && d=sub; true; } && cat "$d/etc/passwd"',
    '! { true && false && d=sub; } && cat "$d/etc/passwd"',
    'declare -u d=sub; cat "$d/c.txt"',
    'local x=a.txt; cd "$x" && cat ../x',
  ])('leaves a value that is not known: %s', async (command) => {
    const { unknownReads, reasons: found } = await workspace.scan(command)
    expect([...unknownReads, ...found]).not.toEqual([])
  })

  it.each([
    'd=sub; cat "$d/c.txt"',
    'd=sub && cat "$d/c.txt"',
    'true && d=sub && cat "$d/c.txt"',
    'if true; then d=sub; cat "$d/c.txt"; fi',
    'for d in sub; do cat "$d/c.txt"; done',
    'export d=sub; cat "$d/c.txt"',
    'f() { local d=sub; cat "$d/c.txt"; }; f',
    '(d=sub; cat "$d/c.txt")',
    'd=sub; eval \'true\'; cat "$d/c.txt" | head',
  ])('and one that has run a known one: %s', async (command) => {
    const { reads, unknownReads } = await workspace.scan(command)
    expect({ reads: relative(reads), unknownReads }).toEqual({ reads: ['sub/c.txt'], unknownReads: [] })
  })
})

describe('a directory change that may not have run', () => {
  it.each([
    'true || cd sub; cat ../x',
    'umask 9 && cd sub; cat ../x',
    'cd sub > none/x; cat ../x',
    '{ cd sub; } < none; cat ../x',
    '{ false && cd sub; true; } && cat ../x',
    '! { true && false && cd sub; } && cat ../x',
  ])('leaves both directories: %s', async (command) => {
    expect((await workspace.scan(command)).outside).not.toEqual([])
  })

  it.each([
    'cd sub && cat ../a.txt',
    'cd sub 2>/dev/null; cat ../a.txt',
    'cd sub || exit 1; cat ../a.txt',
    'mkdir -p sub && cd sub && cat ../a.txt',
  ])('and one that has run the new one: %s', async (command) => {
    expect((await workspace.scan(command)).outside).toEqual([])
  })
})
