// Holds service "Authentication" 8; threat-model T4, K1.
/** What an agent in one workspace reaches of another: nothing. The same without the isolation, so that it is known that there is something. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Message } from '../../../src/protocol/message/message.js'
import type { Session } from '../../../src/protocol/session/session.js'
import { mentioning } from '../server/processes.js'
import { type Host, lackingHost, openHost, type User, whyNoHost } from './host.js'

const SECRET = 'written-by-beta-alone'

for (const isolation of ['on', 'off'] as const) {
  const reaches = isolation === 'off'
  describe.skipIf(whyNoHost() !== undefined)(`an agent of alpha, isolation ${isolation}${lackingHost()}`, () => {
    let host: Host
    let alpha: User
    let session: Session
    let beta: { readonly folder: string; readonly port: string }
    beforeAll(async () => {
      host = await openHost(['--isolation', isolation])
      const other = await host.connect('globex', 'beta')
      const { id } = await other.must<Session>('POST', '/v2/sessions', ALLOWED)
      await run(other, id, `echo ${SECRET} > secret.txt`)
      alpha = await host.connect('acme', 'alpha')
      session = await alpha.must<Session>('POST', '/v2/sessions', ALLOWED)
      const { body } = await host.ask('globex', 'beta', 'status')
      const folder = join(host.data, 'm', machineFolder(host, 'globex'))
      beta = { folder, port: new URL(body.binding.status.connection.agent_api_base_url as string).port }
    })
    afterAll(() => host.close())

    test('files of beta', async () => {
      expect(readFileSync(join(beta.folder, 'root/secret.txt'), 'utf8')).toContain(SECRET)
      expect((await run(alpha, session.id, `cat ${beta.folder}/root/secret.txt; true`)).includes(SECRET)).toBe(reaches)
    })

    test('the port of beta', async () => {
      const script = `const s = require('net').connect(${beta.port}, '127.0.0.1'); s.on('connect', () => { console.log('REA' + 'CHED'); process.exit() }); s.on('error', (e) => console.log(e.code))`
      expect((await run(alpha, session.id, `${process.execPath} -e "${script}"`)).includes('REACHED')).toBe(reaches)
    })

    test('credentials of beta, of controllers and of the host', async () => {
      const files = ['secret-signing-seed', 'secret-grant-key', 'secret-worker-key', 'secret-bridge', 'database-url'].map((name) =>
        join(host.data, name),
      )
      const command = [...files, `${beta.folder}/launch/host.bearer`].map((file) => `test -r ${file} && echo GOT-$((1+1))`).join('; ')
      const got = (await run(alpha, session.id, `${command}; echo end`)).match(/GOT-2/g)?.length ?? 0
      expect(got).toBe(reaches ? 6 : 0)
    })

    test('processes of beta', async () => {
      expect(mentioning(beta.folder).length).toBeGreaterThan(0)
      expect(await run(alpha, session.id, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')).not.toContain(beta.folder)
    })

    test('its own: the key that signs is nowhere in it', async () => {
      const seed = readFileSync(join(host.data, 'secret-signing-seed'))
      const folder = join(host.data, 'm', machineFolder(host, 'acme'))
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      expect(files.length).toBeGreaterThan(3)
      for (const file of files) expect(readFileSync(join(file.parentPath, file.name)).includes(seed)).toBe(false)
    })
  })
}

const ALLOWED = { title: 'a test', permission: [{ permission: '*', pattern: '*', action: 'allow' }] }

/** Has the agent of a session run a command; answers what is stored of its turn. */
async function run(user: User, session: string, command: string): Promise<string> {
  const call = JSON.stringify({ tool: 'bash', input: { command, description: 'a look around' } })
  await user.must('POST', `/v2/sessions/${session}/prompt`, { prompt: `\`\`\`svc-script\n${call}\n{"text":"done"}\n\`\`\`` })
  await user.must('POST', `/v2/sessions/${session}/wait`)
  const messages = await user.must<Message[]>('GET', `/v2/sessions/${session}/context`)
  const states = messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'tool' ? [part.state] : [])))
  const state = states.at(-1)
  if (state?.status !== 'completed') throw new Error(`the command did not end well: ${JSON.stringify(state)}`)
  return state.output
}

/** The folder of the machine whose bootstrap names this tenant. */
function machineFolder(host: Host, tenant: string): string {
  const machines = join(host.data, 'm')
  const found = readdirSync(machines).find(
    (name) => (JSON.parse(readFileSync(join(machines, name, 'launch/bootstrap.json'), 'utf8')) as { tenantId: string }).tenantId === tenant,
  )
  if (found === undefined) throw new Error(`no machine of ${tenant}`)
  return found
}
