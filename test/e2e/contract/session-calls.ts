/** One valid call of every operation on sessions and what belongs to them, with what has to be there before. */
import type { Answer } from '../server/server.js'
import { asking, sessionElsewhere, sessionOf, talked, type ValidCall, type World } from './world.js'

/** On a session that has answered a prompt and is idle. */
const onIdle =
  (method: string, path: string, body?: unknown): ValidCall =>
  async (world) => {
    const { at } = await talked(world)
    return world.server.call(method, `${at}${path}`, body)
  }

/** On the first message of a session, and on its part. */
const onMessage =
  (method: string, path: (part: string) => string, body: object = {}): ValidCall =>
  async (world) => {
    const { id, at } = await talked(world)
    const [message] = await world.server.messages(id)
    const [part] = message?.parts ?? []
    if (message === undefined || part === undefined) throw new Error('the first message has no part')
    return world.server.call(
      method,
      `${at}/messages/${message.info.id}${path(part.id)}`,
      method === 'PATCH' ? { ...part, ...body } : undefined,
    )
  }

/** On a session that is held up, with a prompt in its queue. */
const onQueue =
  (method: string, path: string): ValidCall =>
  async (world) => {
    const { id, at } = await asking(world, 'please ask')
    await world.server.prompt(id, { prompt: 'later', delivery: 'queue' }, 'prompt-async')
    const answer = await world.server.call(method, `${at}${path}`)
    await world.server.call('POST', `${at}/abort`)
    return answer
  }

/** Something is allowed for good, in a directory of its own: what is not forgotten there is asked again elsewhere. Answers where. */
async function remembering(world: World): Promise<Record<string, string>> {
  const { at, directory, requestId } = await asking(world, 'please write', sessionElsewhere)
  await world.server.call('POST', `/v2/interactions/permissions/${requestId}/reply`, { reply: 'always' })
  await world.server.call('POST', `${at}/wait`)
  return { 'x-svc-directory': directory }
}

/** What was allowed for good is asked again. */
async function forgetting({ server }: World, where: Record<string, string>): Promise<Answer> {
  const [answer] = (await server.call('GET', '/v2/interactions/remembered', undefined, where)).body as { id: string }[]
  return server.call('DELETE', `/v2/interactions/remembered/${answer?.id}`, undefined, where)
}

/** The prompt that came with a session has its turn. */
const onHeld: ValidCall = async (world) => {
  const { id } = await talked(world)
  const session = await world.server.get<{ directory: string }>(`/v2/sessions/${id}`)
  const request = { noReply: false, parts: [{ type: 'text', text: 'hello' }] }
  const bundle = { version: 1, session, messages: [], queuedPrompts: [{ delivery: 'queue', request }] }
  const { body } = await world.server.call('POST', '/v2/sessions/import', { bundle, targetWorkspaceRoot: session.directory })
  const { sessionId } = body as { sessionId: string }
  const answer = await world.server.call('POST', `/v2/sessions/${sessionId}/queue/release`)
  await world.server.call('POST', `/v2/sessions/${sessionId}/wait`)
  const messages = await world.server.messages(sessionId)
  if (answer.status < 300 && messages.length !== 2) throw new Error(`the released prompt led to ${messages.length} messages`)
  return answer
}

/** On a session whose run waits for its user. */
const onRequest =
  (prompt: 'please write' | 'please ask', method: string, path: (requestId: string) => string, body?: object): ValidCall =>
  async (world) => {
    const { at, requestId } = await asking(world, prompt)
    const answer = await world.server.call(method, `/v2/interactions${path(requestId)}`, body)
    await world.server.call('POST', `${at}/abort`)
    await world.server.call('POST', `${at}/wait`)
    return answer
  }

/** The prompt is admitted: it is answered. */
const prompting =
  (mode: 'prompt' | 'prompt-async'): ValidCall =>
  async (world) => {
    const { id, at } = await sessionOf(world)
    const answer = await world.server.call('POST', `${at}/${mode}`, { prompt: 'hello' })
    await world.server.call('POST', `${at}/wait`)
    const messages = await world.server.messages(id)
    if (messages.length !== 2) throw new Error(`the prompt was answered ${answer.status} and led to ${messages.length} messages`)
    return answer
  }

/** It answers once the session is idle, and not before. */
const waiting: ValidCall = async (world) => {
  const gate = world.held()
  const { id, at } = await sessionOf(world)
  await world.server.prompt(id, { prompt: 'please hold' }, 'prompt-async')
  let opened = false
  const waited = world.server.call('POST', `${at}/wait`).then((answer): Answer => {
    if (!opened && answer.status < 300) throw new Error('it did not wait')
    return answer
  })
  const [answer] = await Promise.all([
    waited,
    (async () => {
      for (const path of ['/runtime', '/queue', '']) await world.server.get(`${at}${path}`)
      opened = true
      gate.open()
    })(),
  ])
  return answer
}

/** The model writes a summary, which the session then holds. */
const compacting =
  (path: string, body?: object): ValidCall =>
  async (world) => {
    const { at } = await talked(world)
    const answer = await world.server.call('POST', `${at}${path}`, body)
    const { summary } = await world.server.get<{ summary?: { text: string } }>(at)
    if (answer.status < 300 && (summary?.text ?? '') === '') throw new Error('no summary was kept')
    return answer
  }

export const SESSION_CALLS: Readonly<Record<string, ValidCall>> = {
  'v2.sessions.create': ({ server }) => server.call('POST', '/v2/sessions', { title: 'Contract' }),
  'v2.sessions.list': async (world) => {
    await talked(world)
    return world.server.call('GET', '/v2/sessions?roots=true&archived=true')
  },
  'v2.sessions.status': async (world) => {
    const { at } = await asking(world, 'please ask')
    const answer = await world.server.call('GET', '/v2/sessions/status')
    await world.server.call('POST', `${at}/abort`)
    return answer
  },
  'v2.sessions.get': onIdle('GET', ''),
  'v2.sessions.update': onIdle('PATCH', '', { title: 'Renamed', time: { archived: 1 } }),
  'v2.sessions.pin': onIdle('POST', '/pin'),
  'v2.sessions.children': async (world) => {
    const { id, at } = await talked(world)
    await world.server.createSession({ parentId: id })
    return world.server.call('GET', `${at}/children`)
  },
  'v2.sessions.undo': onIdle('POST', '/undo'),
  'v2.sessions.redo': onIdle('POST', '/redo'),
  'v2.sessions.revert': async (world) => {
    const { id, at } = await talked(world)
    const [message] = await world.server.messages(id)
    return world.server.call('POST', `${at}/revert`, { messageId: message?.info.id })
  },
  'v2.sessions.unrevert': async (world) => {
    const { at } = await talked(world)
    await world.server.call('POST', `${at}/undo`)
    return world.server.call('POST', `${at}/unrevert`)
  },
  'v2.sessions.undoTree': onIdle('GET', '/undo-tree'),
  'v2.sessions.runtime': onIdle('GET', '/runtime'),
  'v2.sessions.todos': async (world) => {
    const { at } = await talked(world, 'please plan')
    return world.server.call('GET', `${at}/todos`)
  },
  'v2.sessions.delete': onIdle('DELETE', ''),

  'v2.sessions.prompt': prompting('prompt'),
  'v2.sessions.promptAsync': prompting('prompt-async'),
  'v2.sessions.commands.execute': async (world) => {
    const { at } = await sessionOf(world)
    return world.server.call('POST', `${at}/commands`, { command: 'summarize', arguments: 'in one line' })
  },
  'v2.sessions.export': async (world) => {
    const { id } = await talked(world)
    const { directory } = await world.server.get<{ directory: string }>(`/v2/sessions/${id}`)
    return world.server.call('POST', '/v2/sessions/export', { workspaceRoot: directory })
  },
  'v2.sessions.import': async (world) => {
    const { id } = await talked(world)
    const session = await world.server.get<{ directory: string }>(`/v2/sessions/${id}`)
    const bundle = { version: 1, session, messages: await world.server.messages(id), queuedPrompts: [] }
    return world.server.call('POST', '/v2/sessions/import', { bundle, targetWorkspaceRoot: session.directory })
  },
  'v2.sessions.shell': async (world) => {
    const { at } = await sessionOf(world)
    return world.server.call('POST', `${at}/shell`, { command: 'echo hello' })
  },
  'v2.sessions.compact': compacting('/compact'),
  'v2.sessions.summarize': compacting('/summarize', {}),
  'v2.sessions.wait': waiting,
  'v2.sessions.abort': async (world, contract) => {
    const { at } = await asking(world, 'please ask')
    const answer = await world.server.call('POST', `${at}/abort`)
    contract.success('v2.sessions.abort', answer)
    await world.server.call('POST', `${at}/wait`)
    return answer
  },
  'v2.sessions.context': onIdle('GET', '/context'),
  'v2.sessions.messages': onIdle('GET', '/messages?slim=true&order=desc&limit=3'),
  'v2.sessions.messages.get': onMessage('GET', () => ''),
  'v2.sessions.messages.delete': onMessage('DELETE', () => ''),
  'v2.sessions.parts.update': onMessage('PATCH', (part) => `/parts/${part}`, { text: 'changed' }),
  'v2.sessions.parts.delete': onMessage('DELETE', (part) => `/parts/${part}`),
  'v2.sessions.queue.list': onQueue('GET', '/queue'),
  'v2.sessions.queue.pop': onQueue('POST', '/queue/pop'),
  'v2.sessions.queue.release': onHeld,
  'v2.sessions.queue.clear': onQueue('DELETE', '/queue'),

  'v2.interactions.permissions.list': onRequest('please write', 'GET', () => '/permissions'),
  'v2.interactions.permissions.get': onRequest('please write', 'GET', (id) => `/permissions/${id}`),
  'v2.interactions.questions.get': onRequest('please ask', 'GET', (id) => `/questions/${id}`),
  'v2.interactions.remembered.list': async (world) => {
    const where = await remembering(world)
    const answer = await world.server.call('GET', '/v2/interactions/remembered', undefined, where)
    await forgetting(world, where)
    return answer
  },
  'v2.interactions.explain': async (world) => {
    const where = await remembering(world)
    const answer = await world.server.call('GET', '/v2/interactions/explain?command=git%20push', undefined, where)
    await forgetting(world, where)
    return answer
  },
  'v2.interactions.remembered.forget': async (world) => {
    return forgetting(world, await remembering(world))
  },
  'v2.interactions.permissions.reply': onRequest('please write', 'POST', (id) => `/permissions/${id}/reply`, { reply: 'once' }),
  'v2.interactions.questions.list': onRequest('please ask', 'GET', () => '/questions'),
  'v2.interactions.questions.reply': onRequest('please ask', 'POST', (id) => `/questions/${id}/reply`, { answers: [['this']] }),
  'v2.interactions.questions.reject': onRequest('please ask', 'POST', (id) => `/questions/${id}/reject`),
}
