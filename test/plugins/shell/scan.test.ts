// Holds threat-model G2.
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createShellWorkspace } from './fixture.js'

const workspace = createShellWorkspace()
const { directory, effects } = workspace
const { home } = effects.paths
for (const name of ['sub/a.txt', 'sub/deep/b.txt', 'a.o', 'b.o', '.git/config', '.git/hooks/pre-commit']) workspace.put(name)
symlinkSync('/etc', join(directory, 'etc'))
symlinkSync(join(directory, '.git/hooks'), join(directory, 'innocent'))
symlinkSync('/nowhere/at/all', join(directory, 'dangling'))
symlinkSync('sub/a.txt', join(directory, '.exrc'))
mkdirSync(join(home, 'project'))

const texts = async (command: string) => {
  const { segments, reasons } = await workspace.scan(command)
  return { texts: segments.map(({ text }) => text), reasons }
}
const writes = async (command: string) => (await workspace.scan(command)).writes.map((path) => path.replace(`${directory}/`, ''))
const outside = async (command: string) => (await workspace.scan(command)).outside
const reasons = async (command: string) => (await workspace.scan(command)).reasons

describe('the programs of an ordinary line', () => {
  it.each([
    ['ls -la src', ['ls -la src']],
    ['npm test && git status --short', ['npm test', 'git status --short']],
    ['git  commit   -m "a; rm b"', ["git commit -m 'a; rm b'"]],
    ['npm run build 2>&1 | tail -20', ['npm run build', 'tail -20']],
    ['NODE_ENV=test npx vitest run', ['npx vitest run']],
    ['cd sub && make -j4', ['make -j4']],
    ['cd sub', []],
    ['x=1', []],
    ['# nothing', []],
    ['for f in *.ts; do wc -l "$f"; done', ['wc -l "$f"']],
    ['if [ -f x ]; then cat x; else echo none; fi', ['cat x', 'echo none']],
    ['echo $(date +%s) $((1 + 2)) "$HOME"', ['date +%s', `echo $(date +%s) $((1 + 2)) ${home}`]],
    ['git commit -m "$(cat <<\'EOF\'\nfix: a\n\nbody (b)\nEOF\n)"', ['cat', 'git commit -m "$(cat <<\'EOF\'\nfix: a\n\nbody (b)\nEOF\n)"']],
    ['find . -name "*.ts" | xargs grep -n foo', ['find . -name *.ts', 'xargs grep -n foo', 'grep -n foo']],
    ['timeout 30 npm test', ['timeout 30 npm test', 'npm test']],
    ["bash -c 'ls; pwd'", ["bash -c 'ls; pwd'", 'ls', 'pwd']],
    ['./run.sh --fast', ['./run.sh --fast', 'run.sh --fast']],
    ['/usr/bin/git log', ['/usr/bin/git log', 'git log']],
    ['ls \\\n  -l \\\n  src', ['ls -l src']],
    ['set -euo pipefail; shopt -s nullglob; true', ['set -euo pipefail', 'shopt -s nullglob', 'true']],
    ["sed -n '10,20p' a.ts", ['sed -n 10,20p a.ts']],
    [`awk '{print $1}' a.txt`, ["awk '{print $1}' a.txt"]],
    ["python3 -c 'print(1)'", ['python3 -c print(1)']],
    ['GIT_PAGER=cat git log', ['git log']],
    ['sleep 1 & wait', ['sleep 1', 'wait']],
    ['kill $(lsof -ti:3000) 2>/dev/null || true', ['lsof -ti:3000', 'kill $(lsof -ti:3000)', 'true']],
    ["grep -E '^[a-z]+$' f", ['grep -E ^[a-z]+$ f']],
    ['while IFS= read -r line; do echo "$line"; done < a.txt', ['read -r line', 'echo "$line"']],
    ['diff <(sort a) <(sort b)', ['sort a', 'sort b', 'diff <(sort a) <(sort b)']],
    ["cat > a.py <<'EOF'\nprint(`x`)\nEOF", ['cat']],
  ])('are exactly its own: %j', async (command, expected) => {
    expect(await texts(command)).toEqual({ texts: expected, reasons: [] })
  })

  it('stand for every alternative spelling of the program', async () => {
    expect((await workspace.scan('env A=1 /bin/rm x')).segments).toEqual([
      { text: 'env A=1 /bin/rm x', program: 'env' },
      { text: '/bin/rm x', program: '/bin/rm' },
      { text: 'rm x', program: 'rm' },
    ])
  })
})

describe('the files a line writes', () => {
  it.each([
    ['echo a > out.txt', ['out.txt']],
    ['echo a >> "my file"', ['my file']],
    ['make &> log', ['log']],
    ['make >| log 2> err', ['log', 'err']],
    ['make > /dev/null 2>&1', []],
    ['cat < in', []],
    ['cd sub && make > log', ['sub/log']],
    ['cd sub && (cd deep; make) > log', ['sub/log']],
    ['(cd sub; make > log); make > log2', ['sub/log', 'log2']],
    ['cd sub; cd deep; make > log', ['sub/deep/log']],
    ['cd nowhere; make > log', ['log', 'nowhere/log']],
    ['mkdir new && cd new && make > log', ['new', 'new/log']],
    ['mkdir -pm 755 new', ['new']],
    ['touch -m a -d now b', ['a', 'b']],
    ['if true; then cd sub; fi; make > log', ['log', 'sub/log']],
    ['cd sub | true; make > log', ['log', 'sub/log']],
    ['cd sub & make > log', ['log', 'sub/log']],
    ['cd sub; cd -; make > log', ['sub/log', 'log']],
    ['cd sub/../sub; make > ./log', ['sub/log']],
    ['tee a b', ['a', 'b']],
    ['cp a.o sub', ['sub/a.o']],
    ['cp a.o new.o', ['new.o']],
    ['cp -t sub a.o b.o', ['sub/a.o', 'sub/b.o']],
    ['cp -rt sub a.o', ['sub/a.o']],
    ['mv a.o c.o', ['a.o', 'c.o']],
    ['rm *.o', ['a.o', 'b.o']],
    ['rm a.{o,txt}', ['a.o', 'a.txt']],
    ['touch {1..3}.txt', ['1.txt', '2.txt', '3.txt']],
    ["touch '{a,b}' \\*", ['{a,b}', '*']],
    ['dd if=a of=b', ['b']],
    ['truncate -s 0 log', ['log']],
    ['ln -s a.o link', ['a.o', 'link']],
    ["sed -i 's/a/b/' a.ts", ['a.ts']],
    ["perl -pi -e 's/a/b/' a.ts", ['a.ts']],
    ['tar xzf a.tgz -C sub', ['sub']],
    ['tar -czf a.tgz sub', ['a.tgz']],
    ['curl -so out.html https://example.com', ['out.html']],
    ['curl -O https://example.com/svc.json?x', ['svc.json']],
    ['sort -o b a', ['b']],
    ['patch -p1 -o b a change.diff', ['a', 'b']],
    ['patch < change.diff', []],
    ['gunzip -k sub/.envrc.gz', ['sub/.envrc.gz', 'sub/.envrc']],
    ['gzip -9 *.o', ['a.o', 'b.o']],
    ['xz -dc a.xz', []],
    ['zip -r a.zip sub', ['a.zip']],
    ['iconv -f latin1 -o .envrc a.ts', ['.envrc']],
    ['git config user.name x', ['.git/config']],
    ['git config --get user.name', []],
    ['install -d one two', ['one', 'two']],
    ['find . -name "*.o" -delete', [directory]],
    ["bash -c 'echo > inner'", ['inner']],
    ['echo > innocent/pre-commit', ['.git/hooks/pre-commit']],
    ['cd innocent && echo > x', ['.git/hooks/x']],
    ['rm .git/hoo*', ['.git/hooks']],
    ['echo > sub/../.git/config', ['.git/config']],
    ['cp -r x/hooks .git', ['.git/hooks']],
    ['ln -s .git/hooks alias', ['.git/hooks', 'alias']],
    ['rm .exrc', ['sub/a.txt', '.exrc']],
    ['echo > sub/../.exrc', ['sub/a.txt', '.exrc']],
    ['mv a.o ./.exrc', ['a.o', 'sub/a.txt', '.exrc']],
    ['rm innocent', ['.git/hooks', 'innocent']],
  ])('of %j', async (command, expected) => {
    expect(await writes(command)).toEqual(expected)
    expect(await reasons(command)).toEqual([])
  })

  it.each([
    ['echo > "$file"', 'it changes a path that is only known when it runs: "$file"'],
    ['rm $x', 'it changes a path that is only known when it runs: $x'],
    ['echo > dangling', `it is not certain where ${directory}/dangling leads`],
    ['rm -rf .', `it changes ${directory} as a whole`],
    ['rm -rf "$PWD"', `it changes ${directory} as a whole`],
    ['cp -r template/. .', `it copies a whole tree over ${directory}/.`],
    ['echo > /dev/tcp/127.0.0.1/80', 'it opens a network connection'],
    ['cd "$x" && make', 'it changes to a directory that is only known when it runs: "$x"'],
    ['for i in 1 2; do cd sub; done', 'it changes the directory relatively, perhaps more than once'],
    ['f() { echo > x; }; cd sub; f', 'commands that run later, perhaps in another directory'],
    ['xz -d *.xz', 'it changes a path that is only known when it runs: (the name of what was packed)'],
    ['touch {1..999}', 'it names too many paths: {1..999}'],
  ])('may be uncertain: %j', async (command, reason) => {
    expect(await reasons(command)).toContain(reason)
  })
})

describe('places outside the session directory', () => {
  it.each([
    ['cat /etc/passwd', ['/etc/*']],
    ['ls ~/project', [`${home}/project/*`]],
    ['ls "$HOME"', [`${home}/*`]],
    ['cat etc/passwd', ['/etc/*']],
    ['cat ../x', [`${effects.root}/*`]],
    ['cd .. && ls', [`${effects.root}/*`]],
    ['cd', [`${home}/*`]],
    ['cat sub/../../x', [`${effects.root}/*`]],
    ['cd sub && cat ../a.o', []],
    ['cd sub && cat ../../x', [`${effects.root}/*`]],
    ['cat < /etc/passwd', ['/etc/*']],
    ['echo > /etc/x', ['/etc/*']],
    ['grep -r root /etc', ['/etc/*']],
    ["grep -rn '/etc' sub", []],
    ['/usr/bin/env', []],
    ['../tool', [`${effects.root}/*`]],
    ['ls /', ['/*']],
    ['cat /dev/null', []],
  ])('of %j', async (command, expected) => {
    expect(await outside(command)).toEqual(expected)
  })
})

describe('a scan', () => {
  it('starts in the directory it is told', async () => {
    const { writes: written } = await workspace.scan('echo > x', join(directory, 'sub'))
    expect(written).toEqual([join(directory, 'sub/x')])
  })

  it('of a line that changes nothing known is empty', async () => {
    expect(await workspace.scan('x=1')).toEqual({
      segments: [],
      writes: [],
      reads: [],
      unknownReads: [],
      outside: [],
      named: [],
      reasons: [],
    })
  })

  it('lists programs of a line that is not understood as far as they are known', async () => {
    const scan = await workspace.scan('eval "rm x"; $y z')
    expect(scan.segments.map(({ text }) => text)).toEqual(["eval 'rm x'", 'rm x', '$y z'])
    expect(scan.reasons).toEqual(['eval: it runs text as commands', 'which program starts is only known when it runs: $y'])
  })

  it('names at most twenty reasons', async () => {
    const scan = await workspace.scan(Array.from({ length: 30 }, (_, index) => `$x${index}`).join('; '))
    expect(scan.reasons).toHaveLength(20)
  })

  it('gives up on lines with too many paths', async () => {
    const scan = await workspace.scan(`touch ${Array.from({ length: 1200 }, (_, index) => `f${index}`).join(' ')}`)
    expect(scan.reasons).toEqual(['it names too many paths'])
  })
})

describe('git', () => {
  it.each([
    "git fetch --upload-p='evil' origin",
    'git clone -u evil x',
    'git clone -c core.fsmonitor=evil x',
    'git -c log.showSignature=true log',
    'git -c gc.recentObjectsHook=evil gc',
    'git -c init.templateDir=evil init',
    'git --config-env=core.fsmonitor=X status',
    'git --git-dir=evil status',
    'git merge-index evil -a',
    'git remote-ext x evil',
    'git fetch ext::evil',
    'tar xf a.tar && git status',
    'cp -r a new && cd new && git status',
  ])('needs an answer: %s', async (command) => {
    expect((await workspace.scan(command)).reasons).not.toEqual([])
  })

  it.each([
    'git -c color.ui=never status',
    'git diff --text',
    'git format-patch --to=a@b -1',
    'git -c user.name=x commit -m y',
    'git --version',
    'cp a b && git add b',
  ])('is free: %s', async (command) => {
    expect((await workspace.scan(command)).reasons).toEqual([])
  })

  it('writes what its options name', async () => {
    expect(await writes('git diff --output=.git/hooks/x; git archive -o out.tar HEAD')).toEqual(['.git/hooks/x', 'out.tar'])
  })

  it('is looked at where it runs: what the repository there names for it', async () => {
    const evil = workspace.put('evil/.git/config', '[core]\n\tfsmonitor = ./evil\n')
    workspace.put('evil/.git/HEAD', 'ref: refs/heads/main\n')
    const expected = [`core.fsmonitor=./evil in ${evil.replace('/config', '')}`]
    for (const command of ['cd evil && git status', 'git -C evil status', 'bash -c "cd evil; git status"', 'git -C . -C evil/ status'])
      expect((await workspace.scan(command)).named).toEqual(expected)
    expect((await workspace.scan('git status')).named).toEqual([])
    expect(await workspace.needs({ command: 'cd evil && git status' })).toMatchObject([
      { permission: 'bash' },
      { permission: 'git', patterns: expected },
    ])
  })
})
