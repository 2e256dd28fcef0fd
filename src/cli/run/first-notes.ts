/** What is said before the first prompt of a session: what runs unasked, once for a directory, mistakes that change that, and packages that do not serve. */
import type { Client } from '../../client/client-types.js'
import { troubleOf } from '../plugin/state-words.js'
import { ruleWords } from '../resource/rules-text.js'
import type { ConfigDiagnostic } from '../../protocol/resource/config.js'
import type { Terminal } from '../terminal.js'

const SHOWN = 3

/** Before a session of the directory is made. Nothing of it is worth failing for. */
export async function tellFirst(client: Client, directory: string, terminal: Pick<Terminal, 'note'>): Promise<void> {
  try {
    const [{ items }, packages, { diagnostics }] = await Promise.all([
      client.sessions.list({ directory, archived: 'true', limit: 1 }),
      client.plugins.lifecycle({ directory }),
      client.config.validate({ directory }),
    ])
    for (const each of diagnostics.filter(isWeighty).slice(0, SHOWN)) terminal.note(mistakeText(each))
    for (const each of packages) {
      const trouble = troubleOf(each)
      if (trouble !== undefined) terminal.note(`plugin ${each.packageId} ${trouble}`)
    }
    if (items.length === 0) terminal.note(await firstLine(client, directory))
  } catch {
    // A server may not let everybody see this; the prompt itself says what is wrong.
  }
}

/** Of a configuration somebody may rely on: a file that cannot be read, and a permission that is not what it seems to be. */
function isWeighty({ level, path, code }: ConfigDiagnostic): boolean {
  return code !== 'unsupported' && (level === 'error' || path.split('.').includes('permission'))
}

/** Most messages begin with their place. */
function mistakeText({ path, message, file, line }: ConfigDiagnostic): string {
  const place = file === undefined || message.includes(file) ? '' : ` (${file}${line === undefined ? '' : `:${line}`})`
  return `configuration: ${path === '' ? '' : `${path}: `}${message}${place} -> svc config validate`
}

async function firstLine(client: Client, directory: string): Promise<string> {
  const { defaultAgent } = await client.config.defaults({ directory })
  const agent = (await client.agents.list({ directory })).find(({ name }) => name === defaultAgent)
  const { unasked, asks } = ruleWords(agent?.permission ?? {})
  const runs = unasked.some((word) => word.startsWith('everything'))
    ? 'files are read and changed and commands run without asking'
    : `unasked: ${unasked.join(', ')}`
  return `first use of ${directory}: ${runs}${asks.length === 0 ? ', and nothing is asked about' : ''} (svc agents tells the rest)`
}
