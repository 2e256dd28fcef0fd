/** What can be said to `start.mjs`. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'

export interface StartOptions {
  readonly data: string
  /** The first of seven ports. */
  readonly port: number
  /** The folder of the package of svc. */
  readonly svc: string
  readonly main: string
  readonly driver: 'bubblewrap' | 'podman'
  readonly isolation: 'on' | 'off'
  /** So many workspaces of the first tenant besides: `w-1`, `w-2`, … */
  readonly more: number
  /** Times of the controllers, JSON. */
  readonly times: unknown
  /** Providers of models, JSON: each with its id, its address and its key file. */
  readonly models: unknown
  /** Installation configuration of each worker, JSON. */
  readonly config: unknown
  /** Options of `podman`, and of `podman run`, each a JSON list. */
  readonly podman: unknown
  readonly podmanRun: unknown
}

export function readOptions(args: readonly string[]): StartOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: 'string', default: join(homedir(), '.local/state/svc-hosting') },
      port: { type: 'string', default: '5600' },
      svc: { type: 'string', default: defaultPackage() },
      main: { type: 'string', default: 'dist/main.js' },
      driver: { type: 'string', default: 'bubblewrap' },
      isolation: { type: 'string', default: 'on' },
      more: { type: 'string', default: '0' },
      times: { type: 'string', default: '{}' },
      models: { type: 'string', default: '[]' },
      config: { type: 'string', default: '{"model":"svc/offline"}' },
      podman: { type: 'string', default: '[]' },
      'podman-run': { type: 'string', default: '[]' },
    },
  })
  const { driver, isolation } = values
  if (driver !== 'bubblewrap' && driver !== 'podman') throw new Error(`--driver is bubblewrap or podman, not ${driver}`)
  if (isolation !== 'on' && isolation !== 'off') throw new Error(`--isolation is on or off, not ${isolation}`)
  const svc = resolve(values.svc)
  if (!existsSync(join(svc, values.main))) throw new Error(`${join(svc, values.main)} is not there: build svc, or say --svc FOLDER`)
  return {
    data: resolve(values.data),
    port: Number(values.port),
    svc,
    main: values.main,
    driver,
    isolation,
    more: Number(values.more),
    times: JSON.parse(values.times),
    models: JSON.parse(values.models),
    config: JSON.parse(values.config),
    podman: JSON.parse(values.podman),
    podmanRun: JSON.parse(values['podman-run']),
  }
}

/** Of the clone this example stands in, or the one that was installed beside it. */
function defaultPackage(): string {
  const clone = fileURLToPath(new URL('../../..', import.meta.url))
  return existsSync(join(clone, 'dist/main.js')) ? clone : fileURLToPath(new URL('../node_modules/svc', import.meta.url))
}
