/**
 * No body stalls the server, whatever its shape and size: the health of the built program is watched while every operation that takes
 * a body is sent what no client means. `SVC_CAMPAIGN=whole` makes the whole run (`npm run campaigns`), `SVC_CAMPAIGN_SEED` another one.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { finish, reply, startModelServer, text } from '../../fixtures/model-server.js'
import { makePlace, withModel } from '../../e2e/server/place.js'
import { quantile, startProbe } from '../../e2e/server/probe.js'
import { type Answer, openScene, type Server } from '../../e2e/server/server.js'
import { SEED, WHOLE } from '../scale.js'
import { allBodies, type Body, someBodies } from './bodies.js'

const BODIES = 200
const FILES = ['svc.json', 'svc.jsonc', '.svc/config.json']
const ANSWERS = new Set([200, 201, 204, 400, 403, 404, 409, 422, 429])
/** Refusals say little, however much was sent. */
const LONGEST = 128 * 1024

test('bodies of every shape and size are answered, and the server keeps answering others meanwhile', { timeout: 3_600_000 }, async () => {
  const model = await startModelServer(() => reply(text('an answer'), finish('stop')))
  const scene = openScene(makePlace())
  scene.place.configure(withModel(model.url))
  try {
    const server = await scene.start({ SVC_AGENT_TOKEN: 'secret' })
    const bodies = WHOLE ? allBodies() : someBodies(BODIES, SEED)
    const probe = await startProbe(server, '/v2/health', 20)
    const wrong: string[] = []
    for (const body of bodies) {
      const path = await pathOf(server, body)
      const answer = await sent(server, body, path)
      const name = `${body.contract.id} ${body.field} ${body.shape} ${body.bytes}`
      if (!ANSWERS.has(answer.status)) wrong.push(`${name}: ${answer.status} ${answer.text.slice(0, 200)}`)
      if (answer.status >= 400 && answer.text.length > LONGEST) wrong.push(`${name}: says ${answer.text.length} characters`)
      for (const file of FILES) rmSync(join(scene.place.repo, file), { force: true })
    }
    const times = await probe.stop()
    const health = { p99: quantile(times, 0.99), max: times.at(-1) ?? Number.NaN }
    console.info(
      `request bodies: ${bodies.length} of seed ${SEED}, health p99 ${health.p99.toFixed(0)} ms, max ${health.max.toFixed(0)} ms`,
    )
    expect(wrong).toEqual([])
    expect(health.p99).toBeLessThanOrEqual(200)
    expect(health.max).toBeLessThanOrEqual(500)
  } finally {
    await scene.close()
    await model.close()
  }
})

/** A line of shell that cannot be judged waits for a person: here is one, who refuses it. */
async function sent(server: Server, { contract, text }: Body, path: string): Promise<Answer> {
  if (contract.id !== 'v2.sessions.shell') return server.call(contract.method, path, text())
  const stream = await server.stream({ tail: true, sessionId: path.split('/')[3] ?? '' })
  const answer = server.call(contract.method, path, text())
  const refused = stream
    .waitFor(({ type }) => type === 'permission.asked')
    .then(async (asked) => {
      if (asked.type === 'permission.asked')
        await server.call('POST', `/v2/interactions/permissions/${asked.data.id}/reply`, { reply: 'reject' })
    })
  await Promise.race([answer, refused])
  stream.close()
  await refused.catch(() => undefined)
  return answer
}

/** A session of its own for each body, with one message: nothing that was accepted weighs on the next. */
async function pathOf(server: Server, { contract }: Body): Promise<string> {
  if (!contract.path.includes('{session_id}')) return contract.path.replace(/\{\w+\}/g, 'none')
  const { id } = await server.createSession()
  if (!contract.path.includes('{message_id}')) return contract.path.replace('{session_id}', id)
  await server.prompt(id, { prompt: 'hello', noReply: true })
  const [message] = await server.messages(id)
  const ids = { session_id: id, message_id: message?.info.id ?? '', part_id: message?.parts[0]?.id ?? '' }
  return Object.entries(ids).reduce((path, [name, value]) => path.replace(`{${name}}`, value), contract.path)
}
