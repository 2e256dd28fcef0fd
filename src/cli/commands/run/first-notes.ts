/** What is said before the first prompt of a session: what runs unasked, once for a directory, mistakes that change that, and packages that do not serve. */
import type { Client } from '../../../published/client/client-types.js'
import type { PackageLifecycleInfo } from '../../../protocol/plugin/plugin.js'
import { troubleOf } from '../plugin/state-words.js'
import { ruleWords } from '../resource/rules-text.js'
import type { ConfigDiagnostic } from '../../../protocol/resource/config.js'
import type { Terminal } from '../../terminal/terminal.js'

const SHOWN = 3

/** Before a session of the directory is made; what is said of packages is added to `told`. Nothing of it is worth failing for. */
export async function tellFirst(client: Client, directory: string, terminal: Pick<Terminal, 'note'>, told: Set<string>): Promise<void> {
  try {
    const [{ items }, packages, { diagnostics }] = await Promise.all([
      client.sessions.list({ directory, archived: 'true', limit: 1 }),
      client.plugins.lifecycle({ directory }),
      client.config.validate({ directory }),
    ])
    for (const each of diagnostics.filter(isWeighty).slice(0, SHOWN)) terminal.note(mistakeText(each))
    tellTroubles(packages, terminal, told)
    if (items.length === 0) terminal.note(await firstLine(client, directory))
  } catch {
    // A server may not let everybody see this; the prompt itself says what is wrong.
  }
}

/** After a prompt: packages that did not start for it, or turned out to serve other content, unless that was told. */
export async function tellLast(client: Client, directory: string, terminal: Pick<Terminal, 'note'>, told: Set<string>): Promise<void> {
  try {
    tellTroubles(await client.plugins.lifecycle({ directory }), terminal, told)
  } catch {
    // As above.
  }
}

function tellTroubles(packages: readonly PackageLifecycleInfo[], { note }: Pick<Terminal, 'note'>, told: Set<string>): void {
  for (const each of packages) {
    const trouble = troubleOf(each)
    if (trouble === undefined || told.has(`${each.packageId} ${each.state}`)) continue
    told.add(`${each.packageId} ${each.state}`)
    note(`plugin ${each.packageId} ${trouble}`)
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

/** Kinds of calls that change files or run programs. */
const WEIGHTY = /^(?:bash|edit|everything)\b/

/** In one line. Pure. */
export function firstWords(unasked: readonly string[], asks: readonly string[]): string {
  const isOpen = unasked.some((word) => word.startsWith('everything'))
  if (!isOpen) return `unasked: ${unasked.join(', ') || 'nothing'}`
  if (asks.length === 0) return 'files are read and changed and commands run without asking, and nothing is asked about'
  const named = asks.filter((word) => WEIGHTY.test(word))
  if (named.length > 0) return `${named.join(', ')} is asked about, and everything else that is not denied runs without asking`
  return 'files are read and changed and commands run without asking'
}

async function firstLine(client: Client, directory: string): Promise<string> {
  const { defaultAgent } = await client.config.defaults({ directory })
  const agent = (await client.agents.list({ directory })).find(({ name }) => name === defaultAgent)
  const { unasked, asks } = ruleWords(agent?.permission ?? {})
  return `first use of ${directory}: ${firstWords(unasked, asks)} (svc agents tells the rest)`
}
