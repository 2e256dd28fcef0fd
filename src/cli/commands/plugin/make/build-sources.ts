/** Sources of a package are built into it: by their own script where its compiler is installed, else their types are left out. */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../../../../protocol/message-of.js'
import { isRecord } from '../../../../protocol/text/json.js'
import { printable } from '../../../../protocol/text/visible-text.js'
import { writeError } from '../../../terminal/output.js'
import { FOLDER } from '../install/package-content.js'
import { makeDirectoriesSync } from '../../../../store/disk/make-directories.js'

/** What stands beside a package: around its folder `package`, else in `plugin-sources/`. There may be none. */
export function sourcesOf(root: string): string {
  return basename(root) === FOLDER ? dirname(root) : join(dirname(dirname(root)), 'plugin-sources', basename(root))
}

/** Answers false when it failed; what is wrong was printed. */
export async function buildSources(sources: string, root: string): Promise<boolean> {
  if (hasScript(sources) && existsSync(join(sources, 'node_modules'))) return runScript(sources)
  const names = typescriptIn(sources)
  if (names.length > 0) return strip(sources, root, names)
  await bringCode(root)
  if (!hasScript(sources)) return true
  writeError(`svc: the script "build" of ${printable(sources)} was not run: npm install has not been there yet\n`)
  return false
}

/** Names of `src/`, but declarations. */
function typescriptIn(sources: string): string[] {
  const src = join(sources, 'src')
  if (!existsSync(src)) return []
  return readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
}

async function strip(sources: string, root: string, names: readonly string[]): Promise<boolean> {
  const { stripped } = await import('./strip-types.js')
  await bringLibrary(sources, root)
  try {
    const files = Object.fromEntries(names.map((name) => [`src/${name}`, readFileSync(join(sources, 'src', name), 'utf8')]))
    for (const [name, text] of Object.entries(stripped(files))) {
      const file = join(root, name)
      makeDirectoriesSync(dirname(file))
      if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text) // a write is a change for whoever watches
    }
    return true
  } catch (error) {
    writeError(`${printable(messageOf(error).replace('Error transforming ', ''))}\n`)
    return false
  }
}

const LIBRARY = 'svc-plugin'

/** What is not kept with the sources, as everybody has it who has svc. */
async function bringLibrary(sources: string, root: string): Promise<void> {
  const [code, declarations] = [join(root, `${LIBRARY}.js`), join(sources, 'src', `${LIBRARY}.d.ts`)]
  const missing = [code, declarations].filter((path) => !existsSync(path))
  if (missing.length === 0) return
  const library = (await import('./library.js')).installedLibrary()
  for (const path of missing) writeFileSync(path, path === code ? library.code : library.declarations)
}

/** As `bringLibrary`, to a package that is JavaScript as it stands. */
async function bringCode(root: string): Promise<void> {
  const code = join(root, `${LIBRARY}.js`)
  const uses = (name: string) => existsSync(join(root, name)) && readFileSync(join(root, name), 'utf8').includes(`'./${LIBRARY}.js'`)
  if (existsSync(code) || !['main.js', 'plugin.js'].some(uses)) return
  writeFileSync(code, (await import('./library.js')).installedLibrary().code)
}

/** `build` among the scripts of the sources. */
function hasScript(sources: string): boolean {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(sources, 'package.json'), 'utf8'))
    return isRecord(manifest) && isRecord(manifest['scripts']) && 'build' in manifest['scripts']
  } catch {
    return false
  }
}

function runScript(cwd: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', 'build'], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => writeError(text))
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === 0))
  })
}
