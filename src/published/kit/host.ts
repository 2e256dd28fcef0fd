/** The host as an author sees it: one function per reverse method (plugin-protocol §4.8, §11). */
import { recordOf } from './frames.js'
import type { Host, HostCallOptions } from './host-calls-types.js'
import type { ReverseCalls } from './reverse-calls.js'

/** Broker answers lose their `{output}`, bytes are `Uint8Array`. */
export function createHost(request: ReverseCalls['request']): Host {
  /** Which operations there are, and what each answers, the types say. */
  const broker = <Call>(method: string): Call => {
    const call = async (operation: string, input?: unknown, options?: HostCallOptions) => {
      const params = input === undefined ? { operation } : { operation, input }
      return recordOf(await request(method, params, options))['output'] ?? null
    }
    return call as unknown as Call
  }
  const cancel = (method: string): Host['tasks']['cancel'] => {
    return async (id, options) => void (await request(method, { opaqueId: id }, options))
  }

  return {
    config: {
      get: (key, options) => request('host.config.get', { key }, options),
      set: async (key, value, options) => void (await request('host.config.set', { key, value }, options)),
    },
    workspace: {
      read: async (path, options) => bytesOf(await request('host.workspace.read', { path }, options)),
      list: async (path, options) => namesOf(await request('host.workspace.list', { path }, options)),
      write: async (path, contents, options) =>
        void (await request('host.workspace.write', { path, contents: Array.from(contents) }, options)),
    },
    events: {
      publish: async ({ namespace, name, payload }, options) =>
        void (await request('host.event.publish', { namespace, name, payload: payload ?? null }, options)),
    },
    network: { call: broker('host.network.request') },
    process: { call: broker('host.process.spawn'), cancel: cancel('host.process.cancel') },
    tasks: { call: broker('host.task.spawn'), cancel: cancel('host.task.cancel') },
    secrets: { use: broker('host.secret.use'), read: broker('host.secret.read') },
    prompts: { call: broker('host.prompt.read') },
    messages: { call: broker('host.message.read') },
    responses: { call: broker('host.response.transform') },
    providers: { call: broker('host.provider.call') },
    policy: { call: broker('host.policy.call') },
  }
}

function bytesOf(result: unknown): Uint8Array {
  if (!Array.isArray(result)) throw new Error('the host answered something that is no file')
  return Uint8Array.from(result, Number)
}

function namesOf(result: unknown): string[] {
  return Array.isArray(result) ? result.map(String) : []
}
