/**
 * A host for tests of plugins: speaks the protocol with a plugin in this process, every frame through JSON as on a pipe
 * (plugin-protocol §4, §11).
 */
import { encodeFrame, errorText, PROTOCOL, recordOf, TOOL_PROGRESS } from './frames.js'
import type { AnyRecord, Owner } from './host-types.js'
import type { RouteResponse, WsMessage } from './route-types.js'
import { createRuntime } from './runtime.js'
import { createTestStreams } from './test-streams.js'
import type { CreateTestHost, HostRequest, TestCallOptions, TestServiceKind } from './test-types.js'

const METHODS: Readonly<Record<TestServiceKind, string>> = {
  agents: 'agent.list',
  commands: 'command.list',
  skills: 'skill.list',
  systemContext: 'systemContext.sections',
  prompts: 'prompt.render',
  config: 'config.load',
}

const ROUTE_REQUEST = {
  tenantId: null,
  hosted: false,
  workspaceId: null,
  workspace: null,
  sessionId: null,
  actor: null,
  path: {},
  query: {},
  headers: {},
  body: null,
}

export const createHost: CreateTestHost = async (plugin, options = {}) => {
  const { directory = '/workspace', config = {}, answers = {}, ...identity } = options
  const owner: Owner = { pluginId: 'dev.example.plugin', instanceId: 'plugin-instance-1', ...identity }
  const scripted = new Map(Object.entries(answers))
  const requests: HostRequest[] = []
  const notes: string[] = []
  const progress: unknown[] = []
  const pending = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  const streams = createTestStreams(owner.instanceId)
  let lastId = 0
  let hasEnded = false

  const runtime = createRuntime(plugin, {
    async send(line) {
      await Promise.resolve()
      receive(recordOf(JSON.parse(line)))
    },
    note: (text) => void notes.push(text),
    ended() {
      hasEnded = true
      const error = new Error('the plugin has ended')
      for (const call of pending.values()) call.reject(error)
      streams.failAll(error)
    },
  })

  const { pluginId, instanceId } = owner
  const offered = recordOf(await call('initialize', { protocol: PROTOCOL, pluginId, instanceId, directory, config, owner }))

  return {
    offered,
    requests,
    notes,
    progress,
    answer: (method, answer) => void scripted.set(method, answer),
    async callTool(tool, input = {}, { signal, ...place } = {}) {
      const reply = recordOf(await call('tool.invoke', { tool, directory, ...place, input }, signal === undefined ? {} : { signal }))
      const { output, title, metadata, attachments, parts } = reply
      const rest = {
        ...(typeof title === 'string' ? { title } : {}),
        ...(metadata === undefined ? {} : { metadata }),
        ...(attachments === undefined ? {} : { attachments }),
        ...(parts === undefined ? {} : { parts }),
      }
      return { output: String(output), ...rest }
    },
    runHook: (hook, context, value) => call('hook.invoke', { hook, context, value }),
    async sendEvent(event) {
      post({ method: 'event', params: { id: `evt_${++lastId}`, properties: {}, ...event } })
      await runtime.settled()
    },
    call,
    callService: (kind, id, request = {}) => call(METHODS[kind], { serviceId: id, request: serviceRequest(kind, request) }),
    async *streamProvider(id, request) {
      const stream = streams.open((params) => post({ method: '$/cancelStream', params }))
      await call('provider.stream', { serviceId: id, ...stream.params, request })
      yield* stream.items
    },
    async callRoute(id, request = {}) {
      const reply = recordOf(await call('route.handle', { routeId: id, request: { ...ROUTE_REQUEST, workspace: directory, ...request } }))
      return { status: Number(reply['status']), headers: {}, body: null, ...reply } satisfies Required<RouteResponse>
    },
    async openSocket(id, request = {}) {
      const stream = streams.open((params) => post({ method: '$/cancelStream', params }))
      const { streamId } = stream.params
      const params = { routeId: id, ...stream.params, request: { ...ROUTE_REQUEST, workspace: directory, ...request } }
      await call('route.websocket.open', params)
      const send = async (message: WsMessage) => void (await call('route.websocket.message', { streamId, message }))
      return {
        outbound: stream.items as AsyncIterable<WsMessage>,
        send,
        async close() {
          await send({ kind: 'close' }).catch(() => undefined)
          stream.cancel()
          await runtime.settled()
        },
      }
    },
    async shutdown() {
      if (!hasEnded) await call('shutdown', {}).catch(() => undefined)
      await runtime.settled()
    },
  }

  function serviceRequest(kind: TestServiceKind, request: AnyRecord): AnyRecord {
    const service = { workspaceId: null, directory, options: {} }
    return kind === 'prompts' ? { promptId: 'default', variables: {}, service, ...request } : { ...service, ...request }
  }

  async function call(method: string, params: AnyRecord, { signal }: TestCallOptions = {}): Promise<unknown> {
    signal?.throwIfAborted()
    if (hasEnded) throw new Error('the plugin has ended')
    const id = ++lastId
    const cancel = () => {
      post({ method: '$/cancel', params: { id } })
      pending.get(id)?.reject(signal?.reason instanceof Error ? signal.reason : new Error(String(signal?.reason)))
    }
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      return await new Promise((resolve, reject) => {
        pending.set(id, { resolve, reject })
        post({ id, method, params })
      })
    } finally {
      pending.delete(id)
      signal?.removeEventListener('abort', cancel)
    }
  }

  function post(frame: AnyRecord): void {
    runtime.accept(JSON.parse(encodeFrame(frame)))
  }

  function receive(frame: AnyRecord): void {
    const { id, method, error, result } = frame
    const isOwn = JSON.stringify(frame['owner']) === JSON.stringify(owner)
    if (frame['stream'] !== undefined) return isOwn ? streams.accept(frame) : undefined
    if (method === TOOL_PROGRESS && isOwn) return void progress.push(recordOf(frame['params'])['metadata'])
    if (typeof method === 'string') return void answer(Number(id), method, frame['params'], isOwn)
    const call = pending.get(Number(id))
    if (typeof error === 'string') call?.reject(new Error(error))
    else call?.resolve(result ?? null)
  }

  async function answer(id: number, method: string, params: unknown, isOwn: boolean): Promise<void> {
    requests.push({ method, params })
    try {
      if (!isOwn) throw new Error('plugin reverse request has the wrong owner')
      const script = scripted.get(method)
      if (script === undefined) throw new Error(`${method} is not available: this test gives no answer for it`)
      post({ id, result: wireForm(method, await script(recordOf(params))) })
    } catch (error) {
      post({ id, error: errorText(error) })
    }
  }
}

/** Methods that answer something else than `{ output }`. */
const PLAIN = /^host\.(?:config|workspace|event)\.|\.cancel$/

/** Bytes travel as numbers; a file may be given as text. */
function wireForm(method: string, result: unknown): unknown {
  if (!PLAIN.test(method) && result !== undefined && result !== null && !Object.hasOwn(recordOf(result), 'output'))
    throw new Error(`the answer of this test for ${method} is none of a broker, which answers { output: … }`)
  if (result instanceof Uint8Array) return [...result]
  if (method === 'host.workspace.read' && typeof result === 'string') return [...new TextEncoder().encode(result)]
  return result ?? {}
}
