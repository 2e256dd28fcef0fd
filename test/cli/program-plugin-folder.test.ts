/** `svc plugin dev` of a folder where svc looks for no package: what is installed of it, and what keeps it from that. */
import { appendFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Home, makeHome } from './program.js'

const ID = 'dev.example.hello'
let home: Home
beforeEach(() => (home = makeHome()))
afterEach(() => home.close())

const PAGE = new URL('../../docs/plugins.md', import.meta.url)
const served = (times: number) => new RegExp(`(^dev\\.example\\.hello sha256:\\w{12} serves$[^]*){${times}}`, 'm')

test('the lines of the first evening do what the page says, one after the other', async () => {
  const [, block = ''] = /^## The first evening\n+```sh\n([^`]*)```/m.exec(readFileSync(PAGE, 'utf8')) ?? []
  const lines = block
    .trim()
    .split('\n')
    .map((line) => line.replace(/ +#.*/, '').split(' ').slice(1))
  expect(lines.map(([, command]) => command)).toEqual(['init', 'test', 'dev', 'pack', 'add'])
  const [init = [], check = [], dev = [], pack = [], add = []] = lines
  for (const line of [init, check]) expect(await home.run(line)).toMatchObject({ code: 0 })
  const work = home.start(dev)
  await work.prints(served(1))
  expect((await home.run(['plugin', 'list'])).stderr, 'the server of dev is one').not.toContain('no server runs')
  work.child.kill('SIGINT')
  expect((await work.ended).code).toBe(0)
  expect(await home.run(pack)).toMatchObject({ code: 0 })
  expect(await home.run([...add, '--yes'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^dev\.example\.hello is there already, with the same content, from [^]*^approved /m) as string,
  })
})

test('a change waits while a link is in the package, and a copy that was changed where it is installed is never written over', async () => {
  await home.run(['plugin', 'init', './hello'])
  const source = join(home.workspace, 'hello/package/agent.lua')
  const lock = join(home.workspace, 'hello/package/.#agent.lua')
  const copy = join(home.path, '.config/svc/plugins', ID, 'agent.lua')
  const work = home.start(['plugin', 'dev', './hello'])
  await work.notes(/^the source is \S+\/hello\/package; what runs, and what messages name, is its copy in \S+\n/m)
  await work.prints(served(1))
  symlinkSync('somebody@machine.1', lock)
  appendFileSync(source, '-- changed\n')
  await work.notes(/"\.#agent\.lua" is a link, and links are not allowed: remove it.*create-lockfiles nil[^]*^svc: it is looked at again/m)
  rmSync(lock)
  await work.prints(served(2))
  expect(readFileSync(copy, 'utf8')).toContain('-- changed')

  appendFileSync(copy, '-- by hand\n')
  appendFileSync(source, '-- again\n')
  await work.notes(/^svc: \S+ was changed there, and its source is \S+\/hello\/package: .*update dev\.example\.hello --force/m)
  expect(readFileSync(copy, 'utf8')).toContain('-- by hand')
  work.child.kill('SIGINT')
  expect((await work.ended).code).toBe(0)

  expect(await home.run(['plugin', 'dev', './hello'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('was changed there') as string,
  })
  expect(readFileSync(copy, 'utf8')).toContain('-- by hand')
  expect((await home.run(['plugin', 'update', ID, '--force'])).code).toBe(0)
  expect(readFileSync(copy, 'utf8')).toContain('-- again')
})

test('the folder around a package and the package are one source; what came from elsewhere is refused at the start', async () => {
  await home.run(['plugin', 'init', './hello'])
  const source = join(home.workspace, 'hello/package/agent.lua')
  expect((await home.run(['plugin', 'add', './hello', '--trust', '--yes'])).code).toBe(0)
  const work = home.start(['plugin', 'dev', './hello'])
  await work.prints(served(1))
  writeFileSync(source, `${readFileSync(source, 'utf8')}\n`)
  await work.prints(served(2))
  work.child.kill('SIGINT')
  await work.ended
  await home.run(['plugin', 'init', './other', '--id', ID])
  appendFileSync(join(home.workspace, 'other/package/agent.lua'), '-- other\n')
  const refused = await home.run(['plugin', 'dev', './other'])
  expect([refused.code, refused.stderr.match(/is there already/g)]).toEqual([1, ['is there already']])
})
