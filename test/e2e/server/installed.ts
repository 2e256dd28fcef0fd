/** The package as other programs have it: `svc` in `node_modules`, with the exports that its `package.json` names. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Place } from './place.js'
import { PATIENCE } from '../../fakes/patience.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const PACKAGE = process.env['SVC_TEST_PACKAGE'] ?? ROOT

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Copies an example beside an installed package; answers its directory. */
export function installExample(place: Place, name: string): string {
  installPackage(place)
  const directory = join(place.root, 'examples', name)
  cpSync(join(ROOT, 'examples', name), directory, { recursive: true })
  return directory
}

/** Programs below the root of the place can import `svc/…` from now on. */
export function installPackage(place: Place): void {
  mkdirSync(join(place.root, 'node_modules'), { recursive: true })
  symlinkSync(PACKAGE, join(place.root, 'node_modules/svc'))
}

/** Runs a program in the repository of a place, one minute at most. */
export function runNode(place: Place, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { cwd: place.repo, env: { ...place.env, ...env }, timeout: PATIENCE }
    execFile(process.execPath, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ code, stdout, stderr })
    })
  })
}
