/** What a plugin author does at work: `svc plugin dev`, `test`, `restore`, `untrust` and `remove` of the built program. */
import { appendFileSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makeHome } from './program.js'

const home = makeHome()
afterAll(() => home.close())
const ID = 'dev.example.hello'
const CALL = ['plugin', 'test', ID, 'hello', '{"name": "Ada"}']

test('a package is served again after every change, called once, brought back, and taken away', async () => {
  await home.run(['plugin', 'init', ID])
  expect((await home.run(['run', 'list'])).stderr).toContain(`plugin ${ID} waits for your approval, and nothing of it runs`)
  const root = join(home.workspace, '.svc/plugins', ID)
  const work = home.start(['plugin', 'dev', ID])
  await work.prints(/^dev\.example\.hello sha256:\w{12} serves\n/)
  expect(await home.run(CALL)).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n' })
  const text = readFileSync(join(root, 'agent.lua'), 'utf8')
  writeFileSync(join(root, 'agent.lua'), text.replace('local name =', 'error("not today")\n  local name ='))
  await work.prints(/(^dev\.example\.hello sha256:\w{12} serves$[^]*){2}/m)
  const thrown = await home.run(CALL)
  expect(thrown).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/agent\.lua:4: not today\n.*at agent\.lua:4[^]*svc: .*not today/) as string,
  })
  writeFileSync(join(root, 'agent.lua'), text)
  await work.prints(/(^dev\.example\.hello sha256:\w{12} serves$[^]*){3}/m)
  writeFileSync(join(root, 'agent.lua'), 'this is no Lua')
  await work.prints(/^dev\.example\.hello sha256:\w{12} serves with earlier content, because what it is now did not start: .*\n/m)
  const restored = await home.run(['plugin', 'restore', ID, '--yes'])
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringMatching(/^restored \S+ \(sha256:\w{12}\)\n/) as string })
  expect(statSync(join(root, 'agent.lua')).mode & 0o200, 'its author may write it').not.toBe(0)
  await work.prints(/serves with earlier[^]*^dev\.example\.hello sha256:\w{12} serves$/m)
  expect(await home.run(CALL)).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n' })
  work.child.kill('SIGINT')
  const worked = await work.ended
  expect(worked).toMatchObject({ code: 0, stderr: expect.stringMatching(/plugin output {2}line=.*not today/) as string })
  expect(worked.stderr).not.toContain('pluginId=')
  expect(await home.run(['plugin', 'test', ID, 'helo'])).toMatchObject({ code: 1 })
  appendFileSync(join(root, 'agent.lua'), '\n')
  expect((await home.run(['plugin', 'list'])).stdout).toContain(`svc plugin trust ${ID}`)
  expect((await home.run(['plugin', 'restore', ID])).stderr).toContain('needs --yes')
  expect((await home.run(['plugin', 'restore', ID, '--yes', '--json'])).stdout).toMatch(/"approved":\s*true/)
  expect(await home.run(CALL)).toMatchObject({ code: 0, stdout: 'Hello, Ada!\n' })
  expect(await home.run(['plugin', 'restore', ID, '--yes'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no other approved content') as string,
  })
  expect((await home.run(['plugin', 'untrust', ID])).code).toBe(0)
  expect(await home.run(CALL)).toMatchObject({ code: 1, stdout: '' })
  expect((await home.run(['plugin', 'remove', ID])).stderr).toContain('needs --yes')
  expect((await home.run(['plugin', 'remove', ID, '--yes'])).code).toBe(0)
  expect(existsSync(root)).toBe(false)
})

test('a change is taken up after another file took the place of one, and what the package then needs of its user is told once', async () => {
  const other = 'dev.example.other'
  await home.run(['plugin', 'init', other])
  const root = join(home.workspace, '.svc/plugins', other)
  const text = readFileSync(join(root, 'svc-plugin.json'), 'utf8')
  const work = home.start(['plugin', 'dev', other])
  const serves = (times: number) => work.prints(new RegExp(`(^dev\\.example\\.other sha256:\\w{12} serves$[^]*){${times}}`, 'm'))
  await serves(1)
  const needy = JSON.parse(text) as { agent: Record<string, unknown> }
  needy.agent['capabilities'] = ['network', 'secret-use']
  needy.agent['network'] = { hosts: ['127.0.0.1:8080'] }
  needy.agent['secrets'] = [{ alias: 'token', purpose: 'to ask', hosts: ['127.0.0.1:8080'] }]
  writeFileSync(join(root, '.new'), JSON.stringify(needy))
  renameSync(join(root, '.new'), join(root, 'svc-plugin.json')) // as editors save
  await serves(2)
  await work.notes(
    /it still needs the secret token \(to ask\) -> svc plugin configure dev\.example\.other\n[^]*it still needs a line of the installation for 127\.0\.0\.1:8080/,
  )
  writeFileSync(join(root, 'svc-plugin.json'), `${JSON.stringify(needy)}\n`)
  await serves(3)
  writeFileSync(join(root, 'svc-plugin.json'), text)
  await serves(4)
  work.child.kill('SIGINT')
  const { code, stderr } = await work.ended
  expect([code, stderr.split('it still needs').length - 1]).toEqual([0, 2])
})
