/** What the scripts that write documentation share: loading a source file, and writing or checking pages. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { settings } from './build.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Bundles one source file and imports it. */
export async function loadSource(file) {
  const outfile = join(root, 'node_modules/.cache/svc', `${basename(file, '.ts')}.mjs`)
  await build({ ...settings(), entryPoints: [file], outfile })
  return import(`${pathToFileURL(outfile).href}?at=${statSync(outfile).mtimeMs}`)
}

/**
 * Writes `[name, text]` pages of a folder and removes other pages of it; with --check on the command line it compares
 * instead, and sets the exit code when a page is stale.
 */
export function settle(folder, pages, { prune = true } = {}) {
  const expected = new Map(pages)
  const stale = [...expected].filter(([name, text]) => read(join(root, folder, name)) !== text).map(([name]) => name)
  const extra = prune ? list(join(root, folder)).filter((name) => /\.(md|svg)$/.test(name) && !expected.has(name)) : []
  if (process.argv.includes('--check')) {
    for (const name of [...stale, ...extra]) process.stderr.write(`stale: ${folder}/${name}\n`)
    if (stale.length + extra.length > 0) process.exitCode = 1
    return
  }
  for (const name of stale) {
    const path = join(root, folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, expected.get(name))
    process.stdout.write(`wrote ${folder}/${name}\n`)
  }
  for (const name of extra) rmSync(join(root, folder, name))
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function list(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
