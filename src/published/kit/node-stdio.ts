/** Runs a plugin on the standard streams of its process (plugin-protocol §4.2). The only place that knows the process. */
import { parse } from 'ndjson'
import { LIMITS } from '../../protocol/limits.js'
import type { PluginClient } from './host-types.js'
import { createRuntime } from './runtime.js'
import type { RunPlugin } from './test-types.js'

/**
 * Runs until `shutdown` or the end of the input, then exits with 0. Whatever else the process prints to standard
 * output goes to standard error, because a stray line there would be taken for a frame.
 */
export const runPlugin: RunPlugin = async (plugin) => {
  const { stdin, stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr)
  stdout.on('error', () => process.exit(0))
  const client = clientOf(process.env['SVC_AGENT_SERVER_URL'])
  const note = (text: string) => void stderr.write(`${text}\n`)

  await new Promise<void>((ended) => {
    const runtime = createRuntime(plugin, {
      send: (line) => new Promise((resolve) => write(`${line}\n`, () => resolve())),
      note,
      ...(client === undefined ? {} : { client }),
      ended,
    })
    const options = { strict: true, maxLength: LIMITS.plugins.frameBytes, skipOverflow: true }
    const frames = parse(options)
    frames.on('data', (frame) => runtime.accept(frame))
    frames.on('error', () => note('a line that is no JSON was skipped'))
    frames.on('end', () => runtime.end())
    stdin.on('data', (chunk) => frames.write(chunk))
    stdin.on('end', () => frames.end())
    stdin.on('error', () => runtime.end())
  })
  process.exit(0)
}

/** The HTTP API of the server that says where it is, without credentials. */
function clientOf(url: string | undefined): PluginClient | undefined {
  return url === undefined || !URL.canParse(url) ? undefined : { url, fetch: (path, init) => fetch(new URL(path, url), init) }
}
