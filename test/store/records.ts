/** Small whole records for store tests; every field a test does not name has a plain value. */
import type { Artifact } from '../../src/protocol/system/artifact.js'
import type { MessageInfo, Part } from '../../src/protocol/message/message.js'
import type { ExecutionActivitySnapshot, Session } from '../../src/protocol/session/session.js'
import { openStore } from '../../src/store/open.js'
import type { EventRow, InteractionRow, QueueRow, Store } from '../../src/store/store.js'

export function memoryStore(): Store {
  return openStore({ directory: ':memory:', now: () => 1_000 })
}

export function session(id: string, more: Partial<Session> = {}): Session {
  return {
    id,
    slug: `slug-${id}`,
    projectId: 'global',
    directory: '/srv',
    title: `Title of ${id}`,
    version: '0.1.0',
    time: { created: 1, updated: 1 },
    ...more,
  }
}

export function user(id: string, sessionId = 'ses_1'): MessageInfo {
  return { role: 'user', id, sessionId, time: { created: 1 }, agent: 'build', model: { providerId: 'svc', modelId: 'offline' } }
}

export function assistant(id: string, completed?: number, sessionId = 'ses_1'): MessageInfo {
  return {
    role: 'assistant',
    id,
    sessionId,
    time: completed === undefined ? { created: 1 } : { created: 1, completed },
    parentId: 'msg_0',
    mode: 'primary',
    agent: 'build',
    path: { cwd: '/srv', root: '/srv' },
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    modelId: 'offline',
    providerId: 'svc',
  }
}

export function text(id: string, messageId: string, words = `text of ${id}`): Part {
  return { id, sessionId: 'ses_1', messageId, type: 'text', text: words }
}

export function queued(id: string, more: Partial<QueueRow> = {}): QueueRow {
  return {
    id,
    sessionId: 'ses_1',
    delivery: 'queue',
    request: { messageId: `msg_${id}`, parts: [{ type: 'text', text: 'hello' }], noReply: false },
    created: 1,
    held: false,
    ...more,
  }
}

export function permission(id: string, more: Partial<InteractionRow> = {}): InteractionRow {
  return {
    id,
    kind: 'permission',
    sessionId: 'ses_1',
    runId: 'run_1',
    state: 'pending',
    request: { id, sessionId: 'ses_1', messageId: 'msg_1', title: 'Run', permission: 'bash', patterns: ['ls'], always: ['ls *'] },
    created: 1,
    ...more,
  }
}

export function execution(rootSessionId: string, finished: boolean, revision = 1): ExecutionActivitySnapshot {
  return {
    executionId: `exe_${rootSessionId}`,
    rootSessionId,
    rootMessageId: 'msg_1',
    completedMs: 0,
    activeSegments: {},
    revision,
    finished,
  }
}

export function event(sequence: number, sessionId: string | null = 'ses_1', created = sequence): EventRow {
  return { sequence, type: 'session.updated', sessionId, json: JSON.stringify({ sequence }), created }
}

export function artifact(id: string, more: Partial<Artifact> = {}): Artifact {
  return {
    id,
    filename: 'a.txt',
    mediaType: 'text/plain',
    size: 1,
    sha256: '0'.repeat(64),
    created: 1,
    downloadUrl: `/v2/artifacts/${id}/content`,
    ...more,
  }
}
