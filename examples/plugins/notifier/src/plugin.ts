/**
 * Tells you when an agent waits for a permission or has failed: posts a line to `plugins.dev.example.notifier.options.config.url`, such as a
 * topic of ntfy, or writes it to the log where no address is configured.
 */
import { definePlugin, type PluginEvent } from './svc-plugin.js'

type Fields = Readonly<Record<string, unknown>>

/** How long a line may take, ms. */
const PATIENCE = 10_000
/** In a row, so that a loop of failures does not fill anybody's evening. */
const LINES_A_MINUTE = 10

let url: string | undefined
let minute = 0
let sent = 0

/** A line for a person; undefined for what is no news. */
function lineOf({ type, properties }: PluginEvent): string | undefined {
  const fields = fieldsOf(properties)
  if (type === 'permission.asked') return `an agent asks: ${String(fields['title'] ?? fields['permission'] ?? 'a permission')}`
  const { message } = fieldsOf(fieldsOf(fields['error'])['data'] ?? fields['error'])
  return type === 'session.error' ? `an agent has failed: ${String(message ?? 'no reason was given')}` : undefined
}

async function heard(event: PluginEvent): Promise<void> {
  const line = lineOf(event)
  if (line === undefined || isTooMuch()) return
  if (url === undefined) return console.log(`no url is configured; it would have told: ${line}`)
  const response = await fetch(url, { method: 'POST', body: line, signal: AbortSignal.timeout(PATIENCE) })
  if (!response.ok) console.log(`${url} answered ${response.status}`)
}

function isTooMuch(): boolean {
  const now = Math.floor(Date.now() / 60_000)
  if (now !== minute) [minute, sent] = [now, 0]
  return ++sent > LINES_A_MINUTE
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

export const plugin = definePlugin({
  name: 'Notifier',
  version: '1.0.0',
  initialize({ config }) {
    const configured = fieldsOf(config)['url']
    if (configured !== undefined && (typeof configured !== 'string' || !URL.canParse(configured))) throw new Error('config.url is no address')
    url = configured
  },
  events: { namespaces: ['permission.', 'session.'], handler: heard },
})
