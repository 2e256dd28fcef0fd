/** `svc usage`, `svc logs` and `svc cleanup` of the built program, on one state directory. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { makeHome } from './program.js'

const home = makeHome()
afterAll(() => home.close())

test('what was used is told by day, model and project; a fork counts once', async () => {
  expect((await home.run(['usage'])).stdout).toBe('nothing was used in the last 30 days\n')
  const { stderr } = await home.run(['run', 'list'])
  const [, id = ''] = /--session (ses_\w+)/.exec(stderr) ?? []
  const before = (await home.run(['usage', '--by', 'model'])).stdout
  expect(before).toMatch(/^INPUT +CACHED +OUTPUT +COST +ANSWERS +MODEL\n\d+ +0 +\d+ +- +2 +svc\/offline\n$/)
  expect((await home.run(['session', 'fork', id])).code).toBe(0)
  expect((await home.run(['usage', '--by', 'model'])).stdout).toBe(before)
  expect(JSON.parse((await home.run(['usage', '--json'])).stdout)).toMatchObject([{ directory: home.workspace, answers: 2 }])
})

test('the log is kept, without prompts, and read by level and plugin', async () => {
  const { stdout } = await home.run(['logs', '--json', '--plugin', 'dev.svc.workflows'])
  const levels = stdout
    .trimEnd()
    .split('\n')
    .map((line) => String((JSON.parse(line) as { level: unknown }).level))
  expect(new Set(levels)).toEqual(new Set(['info']))
  expect(await home.run(['logs', '--level', 'error'])).toMatchObject({ code: 0, stdout: '', stderr: 'nothing of that was logged\n' })
})

test('what would go is told, and goes with a yes only where no server uses it', async () => {
  const looked = await home.run(['cleanup'])
  expect(looked.stdout).toMatch(
    /^WHAT .*\nconversations .*\n(search index .*\n)?log .*\n(cache .*\n)?all .*\nnothing was changed; svc cleanup --yes does it\n$/,
  )
  const server = await home.serve()
  expect(await home.run(['cleanup', '--yes'])).toMatchObject({ code: 1, stderr: expect.stringContaining('stop it, and the cache') })
  server.child.kill('SIGTERM')
  await server.ended
  expect((await home.run(['cleanup', '--yes'])).code).toBe(0)
  expect(existsSync(join(home.path, '.cache', 'svc'))).toBe(false)
  expect((await home.run(['session', 'list'])).stdout.split('\n')).toHaveLength(4)
})

test('a damaged index of the search is told as what is made again', async () => {
  writeFileSync(join(home.state, 'search.sqlite3'), 'no database')
  const { code, stdout } = await home.run(['doctor'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^warn +search index .*; the server makes it again from the conversations$/m)
})
