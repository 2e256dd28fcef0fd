/**
 * Keeps what V8 makes of the program, functions included that a start calls: dist/compiled/<version of V8>. A start takes a third less CPU with
 * it. The Node that builds is the one it is for; where the program cannot be run at the build, there is nothing to keep. So it is with the thread
 * of a Lua plugin (`compile-sandbox.mjs`).
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { noteScripts } from './noted-scripts.mjs'

/** What is run, each until it ends or listens; of a file that two load, the first decides. */
const STARTS = [['serve', '--port', '0'], ['session', 'list'], ['run', '--model', 'svc/offline', 'hello'], ['--version']]
const OWN = fileURLToPath(import.meta.url)
const SANDBOX = fileURLToPath(new URL('compile-sandbox.mjs', import.meta.url))
/** For what hangs: a machine may be busy. */
const DEADLINE = 120_000

/** Answers the files there are now. `files` are those of the program, relative to the root. */
export async function compileAhead(root, files) {
  const dist = join(root, 'dist')
  const compiled = join(dist, 'compiled')
  const of = digestOf(root, files)
  const noted = join(compiled, 'of')
  if (!existsSync(noted) || readFileSync(noted, 'utf8') !== of) {
    rmSync(compiled, { recursive: true, force: true })
    for (const [index, start] of STARTS.entries()) if (!(await run(OWN, dist, start)) && index === 0) return []
    await run(SANDBOX, dist, [])
    writeFileSync(noted, of)
  }
  return readdirSync(compiled, { recursive: true }).map((name) => join('dist', 'compiled', name))
}

function digestOf(root, files) {
  const hash = createHash('sha256').update(process.version)
  for (const file of files.filter((each) => !each.endsWith('.map')).toSorted()) hash.update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

/** False when it could not be started. */
function run(script, dist, start) {
  const place = mkdtempSync(join(tmpdir(), 'svc-build-'))
  const child = spawn(process.execPath, [script, dist, ...start], {
    cwd: place,
    env: { PATH: process.env.PATH, HOME: place, SVC_AGENT_STATE_DIR: join(place, 'state') },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE)
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    if (!said.includes('listening on') && (said += text).includes('listening on')) child.kill('SIGTERM')
  })
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer)
      rmSync(place, { recursive: true, force: true })
      resolve(code === 0)
    })
  })
}

/** In the child: the program as its entry loads it, with every script noted, and kept at the end. */
async function runNoted([dist, ...start]) {
  const [{ default: vm }, { default: v8 }, { syncBuiltinESMExports }] = await Promise.all([
    import('node:vm'),
    import('node:v8'),
    import('node:module'),
  ])
  const scripts = noteScripts(vm)
  // Flags are part of what V8 compares: those count that the entry sets before it asks for the version, not those of the program when it runs.
  const { cachedDataVersionTag } = v8
  let folder = ''
  v8.cachedDataVersionTag = () => {
    const tag = cachedDataVersionTag()
    folder = join(dist, 'compiled', String(tag))
    mkdirSync(folder, { recursive: true })
    v8.setFlagsFromString = () => undefined
    syncBuiltinESMExports()
    return tag
  }
  syncBuiltinESMExports()
  process.on('exit', (code) => {
    if (code !== 0) return
    for (const [file, script] of scripts) {
      const kept = join(folder, relative(dist, file).replace('/', '_'))
      if (!existsSync(kept)) writeFileSync(kept, script.createCachedData())
    }
  })
  process.argv.splice(1, process.argv.length, join(dist, 'main.js'), ...start)
  await import(join(dist, 'main.js'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runNoted(process.argv.slice(2))
