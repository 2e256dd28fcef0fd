/**
 * The toolbox: `toolbox.js <directory>` runs the tools of a directory as a plugin that speaks `svc-plugin/2` on its standard streams
 * (decision 076). What a file prints while it is loaded goes to standard error, as everything it prints later.
 */
import { execFile } from 'node:child_process'
import { readdir, realpath } from 'node:fs/promises'
import { register } from 'node:module'
import { setTimeout as after } from 'node:timers/promises'
import { runPlugin } from '../../published/kit/node-stdio.js'
import { LIMITS } from '../../protocol/limits.js'
import { loadTools } from './load-tools.js'

const { stdout, stderr, execPath } = process
const write = stdout.write.bind(stdout)
stdout.write = stderr.write.bind(stderr)
register(new URL('toolbox-hooks.js', import.meta.url))

/** Programs that look for lines: what is wrong with so many files is told whole. */
const CHECKS = 5
let checks = 0

/** What Node prints for a file it cannot parse begins with the path and the line. */
async function lineOf(file: string): Promise<string | undefined> {
  if (++checks > CHECKS) return undefined
  return new Promise((resolve) => {
    execFile(execPath, ['--check', file], { timeout: LIMITS.plugins.toolFile }, (_error, _output, printed) => {
      const at = printed.indexOf(`${file}:`)
      resolve(at === -1 ? undefined : /^\d+/.exec(printed.slice(at + file.length + 1))?.[0])
    })
  })
}

const loaded = new AbortController()
const directory = await realpath(process.argv[2] ?? '.')
const { tools, problems } = await loadTools({
  directory,
  names: await readdir(directory),
  load: async (url) => (await import(url)) as Readonly<Record<string, unknown>>,
  lineOf,
  overdue: after(LIMITS.plugins.toolFile, undefined, { signal: loaded.signal }).catch(() => undefined),
})
loaded.abort()
for (const problem of problems) stderr.write(`${problem}\n`)
stdout.write = write
await runPlugin({ tools, problems })
