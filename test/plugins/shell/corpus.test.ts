// Holds threat-model §4.6.
/**
 * Every program that is understood by name, and every subcommand of git: with a protected file, with a place outside, and
 * lines nobody need be asked about. What is in no list here fails, so that a new program comes with its lines.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { ENTRIES } from '../../../src/plugins/shell/programs/table.js'
import { createShellWorkspace } from './fixture.js'

const workspace = createShellWorkspace()
for (const name of ['a.txt', 'b', 'o', 'mail', 'list', 'svc.json', 'src/b.txt', '.git/config']) workspace.put(name)

const SUBCOMMANDS = readFileSync(new URL('../../fixtures/commands/git-subcommands.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const words = (text: string) => text.trim().split(/\s+/)

/** What an answer would be needed for besides that the program runs. */
async function asked(line: string): Promise<readonly string[]> {
  const needs = await workspace.needs({ command: line })
  return needs.flatMap(({ permission, explicit, harmless }) => {
    if (explicit !== undefined) return [permission === 'edit' ? 'protected' : 'explicit']
    return permission === 'external_directory' && harmless !== true ? ['outside'] : []
  })
}

const PROGRAMS = [...new Set(ENTRIES.flatMap(([names, { files }]) => (files === undefined ? [] : names.split(' '))))]

/** Where a second operand is no file that the program itself looks at. */
const OUTSIDE: Readonly<Record<string, string>> = {
  date: 'date -r /opt/x/f',
  logger: 'logger -f /opt/x/f',
  dd: 'dd if=/opt/x/f',
  csplit: 'csplit /opt/x/f 3',
  unzip: 'unzip a.zip -d /opt/x/f',
  pax: 'pax -w -f /opt/x/f a.txt',
  curl: 'curl -o /opt/x/f http://h',
  wget: 'wget -O /opt/x/f http://h',
  sftp: 'sftp -b /opt/x/f h',
  xargs: 'xargs -a /opt/x/f ls',
  psql: 'psql -f /opt/x/f',
  sqlite3: 'sqlite3 /opt/x/f',
}
/** What follows their script is for the script. */
const INTERPRETERS = words('python pypy node nodejs php lua luajit tclsh Rscript R osascript guile irb ipython tsx ts-node')

/** A line of each program that can write a file it is given. */
const WRITES = `
  dd of=svc.json|tee svc.json|sponge svc.json|mkfifo svc.json|mknod svc.json p|dos2unix svc.json|unix2dos svc.json|mkdir svc.json|touch svc.json
  truncate -s 0 svc.json|rm svc.json|rmdir svc.json|unlink svc.json|shred svc.json|srm svc.json|chattr +i svc.json|chmod 600 svc.json
  chown me svc.json|chgrp me svc.json|cp b svc.json|mv b svc.json|ln -f b svc.json|install b svc.json|rsync b svc.json|split b svc.json
  csplit -f svc.json b 3|patch svc.json b|tar cf svc.json b|gtar cf svc.json b|bsdtar -cf svc.json b|unzip a.zip -d .git|zip svc.json b
  7z a svc.json b|7za u svc.json b|7zr a svc.json b|7z x a.7z -o.git|ar r svc.json b|ar rb m svc.json b|cpio -oF svc.json|cpio -p .git
  pax -wf svc.json b|pax -rw b .git|gzip svc.json|bzip2 svc.json|xz svc.json|lzma svc.json|zstd svc.json|lz4 svc.json|brotli svc.json
  gunzip svc.json.gz|bunzip2 svc.json.bz2|unxz svc.json.xz|unlzma svc.json.lzma|unzstd svc.json.zst|yq -i .a svc.json|less -o svc.json b
  sort -o svc.json b|shuf -o svc.json b|sdiff -o svc.json b o|tree -o svc.json|base64 -o svc.json b|iconv -o svc.json b|uniq b svc.json
  xxd b svc.json|ptx b svc.json|find src -fprint svc.json|sed -i s/a/b/ svc.json|gsed -i s/a/b/ svc.json|perl -pi -e 1 svc.json|ruby -i svc.json
  xmllint --output svc.json b|xsltproc -o svc.json s b|pv -o svc.json b|mlr -I cat svc.json|cpp b svc.json|m4 -F svc.json|psql -o svc.json
  sqlite3 svc.json|curl -o svc.json http://h|wget -O svc.json http://h|scp h:b svc.json|openssl rand -out svc.json 9|openssl rehash .git
  gpg -o svc.json -d b|gpg svc.json.gpg|gpg2 -o svc.json -d b|ssh-keygen -f svc.json|awk '{print > "svc.json"}' b|gawk '{print > "svc.json"}' b
  mawk '{print > "svc.json"}' b|nawk '{print > "svc.json"}' b|git mailinfo svc.json o`
  .trim()
  .split(/\||\n/)
  .map((line) => line.trim())
const READERS = words(`
  cat ls realpath readlink md5sum sha1sum sha224sum sha256sum sha384sum sha512sum cksum sum b2sum head tail more nl tac rev cut paste fold fmt
  column comm join expand unexpand pr tsort look strings colrm ul hexyl base32 basenc uuencode envsubst exa eza lsd colordiff icdiff zcat bzcat
  xzcat lzcat zstdcat zgrep zegrep zfgrep bzgrep xzgrep zless zmore xzless zdiff zcmp xzdiff delta batcat diff3 zipinfo wall lp lpr troff groff
  nroff hexdump hd wc stat du cmp od diff man jq file date logger grep egrep fgrep rg ag bat fd fdfind sftp xargs deno bun mysql`)

describe('a program that is understood by name', () => {
  test.each(PROGRAMS.filter((name) => !INTERPRETERS.includes(name)))('%s is asked about with a place outside', async (name) => {
    const line = OUTSIDE[name] ?? `${name} a /opt/x/f`
    expect([line, (await asked(line)).some((each) => each === 'outside' || each === 'explicit')]).toEqual([line, true])
  })

  test.each(WRITES)('that writes a protected file is asked about: %s', async (line) => {
    expect([line, (await asked(line)).some((each) => each === 'protected' || each === 'explicit')]).toEqual([line, true])
  })

  it('is in one of the lists', () => {
    const written = new Set(WRITES.map((line) => line.split(' ', 1)[0]))
    expect(PROGRAMS.filter((name) => !written.has(name) && !READERS.includes(name) && !INTERPRETERS.includes(name))).toEqual([])
  })

  test.each([
    'git log -O/etc/x',
    'git log -O /etc/x',
    'git reflog -O/etc/x',
    'find . -newer /etc/x',
    'find . -anewer /etc/x',
    'find . -newermm /etc/x',
    'find . -samefile /etc/x',
    'find -files0-from /etc/x',
    'fd x /etc',
    'git apply --some-option=/etc/x a',
    'git status --some-option=/etc/x',
    'git status --some-option=../../x',
    'git worktree add -b x ../y',
    'git submodule add -b x https://h/x ../y',
    'git ls-files -X /etc/x',
    'git clone --reference /etc/x https://h/x',
    'git clone --separate-git-dir=/opt/x https://h/x',
    'git mailsplit -o/opt/x mail',
    'git mailinfo /opt/x p',
    'git request-pull v1 /opt/x',
  ])('looks at or writes what an option names: %s', async (line) => {
    expect([line, await asked(line)]).toEqual([line, expect.arrayContaining([expect.stringMatching(/outside|explicit/) as string])])
  })

  test.each([
    'ls -la src',
    'rg -n foo src',
    'fd b src',
    'find . -name "*.txt" -newer a.txt',
    'grep -rn foo .',
    'cat a.txt | sort | uniq -c',
    'sed -n 1,3p a.txt',
    'tar tf a.tar',
    'tar czf out.tgz src',
    '7z l a.7z',
    'ar t a.a',
    'openssl rand -hex 8',
    'openssl dgst -sha256 a.txt',
    'jq .a package.json',
    'xmllint --noout a.xml',
    'diff a.txt b',
    'cp a.txt c.txt',
    'mkdir -p out/x',
    'curl -s http://h',
    'gpg --verify a.sig a.txt',
    'mlr --icsv head a.csv',
  ])('stays unasked: %s', async (line) => {
    expect([line, await asked(line)]).toEqual([line, []])
  })
})

/** Subcommands whose operands are known; every other one needs an explicit answer. */
const KNOWN = words(`
  add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout
  checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects describe diagnose diff diff-files
  diff-index diff-tree fast-export fetch fmt-merge-msg for-each-ref format-patch fsck fsck-objects gc get-tar-commit-id grep hash-object help init
  init-db interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit merge merge-base merge-file merge-tree mktag mktree multi-pack-index
  mv name-rev notes pack-redundant pack-refs patch-id pickaxe prune prune-packed pull push range-diff read-tree rebase reflog remote repack
  request-pull rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-index show-ref sparse-checkout stage stash status
  stripspace submodule switch symbolic-ref tag update-index update-ref update-server-info var verify-commit verify-pack verify-tag version
  whatchanged worktree write-tree`)
/** Lines of those that change, move or remove a file they are given. */
const GIT_WRITES = [
  'mailinfo svc.json o',
  'mailinfo o svc.json',
  'merge-file svc.json b o',
  'merge-file -L x -L y svc.json b o',
  'mailsplit -o.git mail',
  'mailsplit mail .git',
  'interpret-trailers --in-place svc.json',
  'bundle create svc.json main',
  'archive -o svc.json main',
  'format-patch -o .git main',
  'checkout svc.json',
  'checkout .envrc',
  'checkout main svc.json',
  'checkout main -- .envrc',
  'checkout -- svc.json',
  'checkout --pathspec-from-file=list',
  'restore svc.json',
  'restore -s main .envrc',
  'restore --staged --worktree svc.json',
  'stash push svc.json',
  'stash -- svc.json',
  'rm svc.json',
  'rm --pathspec-from-file list',
  'mv b svc.json',
  'mv svc.json b',
  'clean -f svc.json',
  'checkout-index -f svc.json',
  'checkout-index -f --stdin',
  'checkout-index --prefix=.git/ -a',
  'clone https://h/x .svc',
  'clone https://h/.svc',
  'clone https://h/.svc.git/',
  'submodule add https://h/x .svc',
  'submodule add https://h/.svc',
  'worktree add .svc',
  'worktree add -b x .svc',
  'worktree move x .svc',
  'init .svc',
  'init --separate-git-dir=.svc x',
  'read-tree --index-output=svc.json main',
  'fast-export --export-marks=svc.json main',
  'apply --build-fake-ancestor=svc.json a',
  'apply --unsafe-paths a',
  'config -f svc.json a.b c',
  'repack --expire-to=.git/x',
  'maintenance start',
  'unpack-file main',
  'credential-store --file=svc.json store',
  'quiltimport --patches .svc',
]

describe('a subcommand of git', () => {
  test.each(SUBCOMMANDS)('%s is known, or needs an explicit answer', async (name) => {
    const found = await asked(`git ${name} main other`)
    const quiet = name === 'config' ? ['protected'] : []
    expect([name, found.includes('explicit') ? 'asks' : found]).toEqual([name, KNOWN.includes(name) ? quiet : 'asks'])
  })

  test.each(SUBCOMMANDS)('%s writes no output anywhere unasked', async (name) => {
    expect([name, await asked(`git ${name} --output=/opt/x/f`)]).not.toEqual([name, []])
    expect([name, await asked(`git ${name} --output=svc.json`)]).not.toEqual([name, []])
    expect([name, await asked(`git ${name} --new-option=/opt/x/f`)]).not.toEqual([name, []])
  })

  test.each(['lfs track x', 'co main', 'absorb', 'new-command svc.json', 'mailinf a b'])(
    'that nobody knows is asked about: %s',
    async (line) => {
      expect(await asked(`git ${line}`)).toContain('explicit')
    },
  )

  test.each(GIT_WRITES)('that changes a protected file is asked about: %s', async (line) => {
    expect([line, (await asked(`git ${line}`)).some((each) => each === 'protected' || each === 'explicit')]).toEqual([line, true])
  })

  test.each([
    'status',
    'status -sb',
    'log --oneline -20',
    'log --format=%h/%s --since=2020/01/01',
    'log -S/x -- src',
    'log --grep=/x --author=a/b',
    'diff',
    'diff HEAD~1 -- src',
    'diff --stat main...feature/x',
    'show HEAD:svc.json',
    'add -A',
    'add svc.json',
    'commit -am "fix: a/b"',
    'commit -m /x',
    'checkout main',
    'checkout -b feature/x origin/main',
    'checkout src/b.txt',
    'checkout -- src/b.txt',
    'checkout v1.2.3',
    'switch -c feature/x',
    'restore --staged svc.json',
    'restore src/b.txt',
    'stash',
    'stash push -m "x/y"',
    'stash pop',
    'branch -D feature/x',
    'fetch origin main',
    'pull --rebase origin main',
    'push -u origin feature/x',
    'merge origin/main',
    'rebase -i main',
    'cherry-pick abc',
    'reset --hard HEAD~1',
    'rev-parse --show-toplevel',
    'ls-files -o --exclude-standard',
    'grep -n foo',
    'blame -L 1,3 src/b.txt',
    'remote -v',
    'tag -a v1 -m one',
    'worktree list',
    'submodule update --init --recursive',
    'clean -n',
    'clone https://h/x.git',
    'clone https://h/x y',
    'init',
    'config --get user.name',
    'apply src/b.txt',
    'format-patch -1',
    'describe --tags',
    'bisect start',
    '--version',
    '-C src log',
    '--no-pager log',
  ])('stays unasked: %s', async (line) => {
    expect([line, await asked(`git ${line}`)]).toEqual([line, []])
  })
})
