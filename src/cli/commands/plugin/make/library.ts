/** The libraries of plugin authors as they were built. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SvcError } from '../../../../protocol/errors.js'

export interface Library {
  /** `svc-plugin.js` and its declarations. */
  readonly code: string
  readonly declarations: string
  /** `svc_plugin.py`. */
  readonly python: string
}

/** Beside this program, wherever the build put this part of it. */
export function installedLibrary(): Library {
  const here = dirname(fileURLToPath(import.meta.url))
  const found = [here, dirname(here)].find((place) => existsSync(join(place, 'plugin.d.ts')))
  if (found === undefined)
    throw new SvcError('feature.not_implemented', 'this installation lacks plugin.js, the library for plugins; run: npm run build')
  const read = (name: string) => readFileSync(join(found, name), 'utf8')
  return { code: read('plugin.js'), declarations: read('plugin.d.ts'), python: read('svc_plugin.py') }
}
