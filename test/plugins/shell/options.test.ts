/**
 * Options of programs that are understood by name. Each line of the corpus writes a protected file or starts a program by an option,
 * or by an operand that an option with a value has moved; where the program is here, the same lines are run to show that they do.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { OPTIONS } from '../../../src/plugins/shell/programs/options-table.js'
import { createShellWorkspace } from './fixture.js'

const workspace = createShellWorkspace()
const FILES = ['a', 'b', 'o', 'in', 'svc', 'd/svc.json', 'd/x', 'svc.json', 'src/b.txt', 'svc.jsonx', 'svc.json.gz', 'zz/x', '.git/config']
for (const name of FILES) workspace.put(name)
for (let index = 0; index < 2100; index += 1) workspace.put(`big/f${index}`)
workspace.put('big/.env')

async function asked(command: string): Promise<readonly string[]> {
  const needs = await workspace.needs({ command })
  return needs.flatMap(({ permission, explicit, harmless, patterns }) => {
    if (explicit !== undefined) return [permission === 'edit' ? 'protected' : 'explicit']
    if (permission === 'read' && patterns.some((pattern) => pattern.endsWith('.env'))) return ['secret']
    return permission === 'external_directory' && harmless !== true ? ['outside'] : []
  })
}

/** What a line does where it runs: it leaves this file with another content, or at all. */
const RUN: readonly (readonly [line: string, makes: string])[] = [
  ["sed -l 5 '1w svc.json' a", 'svc.json'],
  ["sed --line-length 5 '1w svc.json' a", 'svc.json'],
  ["sed -l 5 '1e touch made' a", 'made'],
  ['sed -i.json p svc', 'svc.json'],
  ["mkdir -p k; sed -i'k/*' p a", 'k/a'],
  ['cp -rT d .', 'svc.json'],
  ['cp -r --no-target-directory d .', 'svc.json'],
  ['cp -b -S .json a svc', 'svc.json'],
  ['cp --backup=simple --suffix=.json a svc', 'svc.json'],
  ['mv -b -S .json a svc', 'svc.json'],
  ['ln -b -S .json a svc', 'svc.json'],
  ['install -b -S .json a svc', 'svc.json'],
  ['split --additional-suffix .json a .svc/w', '.svc/waa.json'],
  ["csplit -s -f .sv -b 'c/%02d' in 1", '.svc/00'],
  ['awk 1* a', 'made'],
]

const LINES = [
  ...RUN.map(([line]) => line),
  'shopt -s globstar; tee **/svc.jso? < o',
  'shopt -s nullglob; split q* in .svc/x',
  'shopt -s nullglob; zip q* svc.json f',
  'shopt -s nullglob; patch q* svc.json p',
  'patch -b -z .json svc o',
  'patch -B .svc/ a o',
  'rsync -a d/ .',
  'rsync -a --delete src/ .',
  'gzip -dS x svc.jsonx',
  'xz -dS x svc.jsonx',
  'gzip -dS.c svc.json.c',
  'gunzip svc.json-gz',
  'gunzip -r .',
  'gzip -dr .',
  'zstd -dr .',
  'tar -cfx/../svc.json a',
  'tar -tf host:x',
  "tar -tf '-oProxyCommand=touch made x:f'",
  'tar tf host:x',
  'cpio -F host:f -t',
  'less --lesskey-src=k a',
  'less -k k a',
  'man -C conf ls',
  'groff -F fonts -Tx a',
  'xsltproc s.xsl a',
  "curl -o '#1.json' 'http://h/{svc}'",
  "curl -O 'http://h/{svc.json}'",
  "curl -O 'http://h/svc.jso[n-n]'",
  'curl --engine ./x.so https://h',
  'wget -e use_askpass=./p http://h',
  'wget -e output_document=svc.json http://h',
  'wget --trust-server-names http://h/a',
  'wget --default-page=svc.json http://h/',
  'wget http://h/svc%2ejson',
  'scp -D ./prog a h:b',
  'sftp -D ./prog',
  'sftp -b batch h',
  'gpg --homedir ./h -d a',
  'gpg --options ./c -d a',
  "gpg --photo-viewer 'touch x' -k",
  'openssl dgst --engine ./x.so a',
  'openssl dgst -engine=./x.so a',
  'openssl req -config ./evil.cnf -new',
  'openssl base64 -in a --out svc.json',
  'openssl base64 -in a -out=svc.json',
  'cpp -fplugin=./x.so a',
  'cpp -B. a',
  'cpp -wrapper ./x a',
  'cpp -specs=s a',
  'cpp @args a',
  'zip -0 a.zip -O .envrc a',
  'zip -lf svc.json a.zip a',
  'zip a.zip a --out .envrc',
  'yq -s \'"svc"\' a',
  'ar x --output=.svc a.a',
  'ar r b.a a --plugin ./x.so',
  '7z a -w svc.json f',
  'LC_ALL=zh_CN.GBK; echo',
  'LANG=ja_JP.SJIS ls',
  'git config alias.x get',
  'git config core.hooksPath list',
  'git config --comment --list core.fsmonitor ./evil',
  'git config --default --get core.fsmonitor ./evil',
  'git bundle create --version 3 .envrc HEAD',
  'git checkout-index --prefix=.sv -a',
  "git checkout HEAD -- 'svc.jso?'",
  "git checkout HEAD -- ':(icase)SVC.JSON'",
  "git restore 'svc.js*'",
  'git restore :/svc.json',
  'git restore -sSOURCE svc.json',
  "git rm 'svc.js*'",
  'git clean -f -enone svc.json',
]

const QUIET = [
  'cp -r src out',
  'cp -a src/. out/',
  'cp -T a b',
  'ln -sfn a c',
  'install -Dm644 a x/y',
  'patch -p1 -i o',
  'sed -i.bak s/a/b/ a',
  "sed -i '' s/a/b/ a",
  "sed -l 5 -n '1,5p' a",
  'sed -Ei -e s/a/b/ -e s/c/d/ a',
  'split -l 100 a part_',
  'csplit a 3',
  'gzip -9 a',
  'gunzip -c a.gz',
  'xz -T0 -k a',
  'zstd -19 a -o a.zst',
  "zip -qr out.zip src -x '*.log'",
  'tar xzf a.tgz --strip-components=1',
  'tar -czf out.tgz --exclude=node_modules src',
  'tar --force-local -tf host:x',
  'rsync -avz --delete src/ out2/',
  'rsync -a --exclude node_modules src/ out2/',
  'curl -fsSL https://h/x',
  "curl -sS -X POST -H 'a: b' -d '{\"a\":1}' http://localhost:3000/x",
  "curl -w '%{http_code}' -s -o /dev/null http://h",
  'curl -sO https://h/a.tgz',
  'wget -q https://h/a.tgz',
  'less -R a',
  'man 3 printf',
  "rg -n --hidden -g '!x' foo src",
  'gpg --list-keys',
  'openssl req -new -x509 -key a -out c.pem -subj /CN=x',
  'cpp -DX -I inc a',
  "awk -F: '{print $1}' a",
  'git config user.name',
  'git config --get user.name',
  'git config -l --show-origin',
  'git config get user.name',
  'git bundle create x.bundle --all',
  'git checkout -- *.txt',
  'git clean -n',
  'shopt -s nullglob; for f in *.txt; do cat "$f"; done',
  'shopt -s globstar; wc -l src/**/*.txt',
  'LC_ALL=C sort a',
  '7z a -t7z -mx=9 -r x.7z src',
  'ar rcs lib.a a.o',
]

describe('an option of a program that is understood by name', () => {
  test.each(LINES)('is asked about where it writes or starts something: %s', async (line) => {
    expect([line, await asked(line)]).toEqual([line, expect.arrayContaining([expect.stringMatching(/protected|explicit/) as string])])
  })

  test.each(QUIET)('stays unasked where nothing of it is protected: %s', async (line) => {
    expect([line, await asked(line)]).toEqual([line, []])
  })

  test.each([...OPTIONS.keys()])('of %s that nobody knows needs an explicit answer', async (program) => {
    const words = program === 'openssl' ? 'dgst ' : ''
    for (const option of ['--new-option=x', '--new-option', '-é'])
      expect([option, await asked(`${program} ${words}${option} a b`)]).toContainEqual(['explicit'])
  })

  it('is in one list only, so that no value that names a file is taken for text', () => {
    for (const [program, { flags, texts, judged, attached }] of OPTIONS) {
      const all = [...flags, ...texts, ...judged, ...attached]
      expect([program, all.filter((name, at) => all.indexOf(name) !== at && name !== '--in-place')]).toEqual([program, []])
    }
  })

  test.each(['cat big/.en[v]', 'cd big; cat .en[v]', 'cat big/*'])('a wildcard with too many names may be any secret: %s', async (line) => {
    expect(await asked(line)).toContain('secret')
  })

  it('is a place on this machine whose hooks run when something is pushed there', async () => {
    for (const name of ['objects/x', 'refs/x', 'HEAD', 'config']) workspace.put(`bare/${name}`)
    chmodSync(workspace.put('bare/hooks/post-receive'), 0o755)
    const named = async (command: string) =>
      (await workspace.needs({ command })).flatMap((need) => (need.permission === 'git' ? need.patterns : []))
    for (const line of ['git push ./bare HEAD', 'git push bare HEAD', 'git push --repo=./bare', 'git push "file://$PWD/bare" HEAD'])
      expect([line, await named(line)]).toEqual([line, [expect.stringContaining('hooks/post-receive') as string]])
    expect(await named('git push origin main')).toEqual([])
  })

  it.skipIf(process.platform !== 'linux').each(RUN)('does what the corpus says: %s', (line, makes) => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-options-'))
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), text)
    }
    for (const name of ['a', 'svc', 'in', 'd/svc.json']) put(name, `${name}\n`)
    put('1{system("touch made")}', '')
    mkdirSync(join(directory, '.svc'))
    execFileSync('bash', ['-c', line], { cwd: directory, stdio: 'ignore' })
    expect(existsSync(join(directory, makes)) && readFileSync(join(directory, makes)).length >= 0).toBe(true)
  })
})
