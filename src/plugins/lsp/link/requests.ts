/** What language servers ask of us, answered at once: nothing of it waits for anything (subsystems e.4). */
import { isRecord } from '../../../protocol/text/json.js'

const INVALID = -32602
const NO_METHOD = -32601
const FAILED = -32803

const refusal = (message: string, code: number) => Object.assign(new Error(message), { code })

export interface Asked {
  readonly rootUri: string
  readonly rootName: string
  readonly settings: unknown
}

/** The answer; throws an error with a `code` for what is refused. */
export function answerServer({ rootUri, rootName, settings }: Asked, method: string, params: unknown): unknown {
  switch (method) {
    case 'workspace/configuration': {
      const items = isRecord(params) ? params['items'] : undefined
      if (!Array.isArray(items)) throw refusal('"items" is missing', INVALID)
      return items.map((item: unknown) => settingAt(settings, isRecord(item) ? item['section'] : undefined))
    }
    case 'workspace/workspaceFolders':
      return [{ uri: rootUri, name: rootName }]
    case 'client/registerCapability': {
      const wanted = isRecord(params) && Array.isArray(params['registrations']) ? params['registrations'] : []
      const isKnown = (each: unknown) => isRecord(each) && each['method'] === 'workspace/didChangeWorkspaceFolders'
      if (wanted.length === 0 || !wanted.every(isKnown)) throw refusal('nothing is registered later', FAILED)
      return null
    }
    case 'client/unregisterCapability':
    case 'window/showMessageRequest':
      return null
    case 'workspace/applyEdit':
      return { applied: false, failureReason: 'servers change no files' }
    case 'window/showDocument':
      return { success: false }
    case 'window/workDoneProgress/create':
      throw refusal('no progress is shown', FAILED)
    default:
      if (/^workspace\/.*\/refresh$/.test(method)) throw refusal('nothing is shown that could be refreshed', FAILED)
      throw refusal(`there is no ${method}`, NO_METHOD)
  }
}

/** All of it without a section, a key of that name, else what stands at a dotted path. */
function settingAt(settings: unknown, section: unknown): unknown {
  if (typeof section !== 'string' || section === '') return settings ?? null
  let at: unknown = settings
  if (isRecord(at) && Object.hasOwn(at, section)) return at[section] ?? null
  for (const key of section.split('.')) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return null
    at = at[key]
  }
  return at ?? null
}
