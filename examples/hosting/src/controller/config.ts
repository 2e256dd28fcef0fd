/** The file a controller is started with. Secrets stand in files of their own, which only their owner may read. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { ModelProvider } from '../models/records.js'
import { Capabilities } from '../records/machines.js'
import { SCOPES } from '../records/worker.js'

const key = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/)
const digest = z.string().regex(/^[0-9a-f]{64}$/)
const listen = z.strictObject({ host: z.string(), port: z.int().min(0).max(65_535) })

/** Who may ask for workers of a tenant, and as whom its users speak to them. */
const Application = z.strictObject({
  sha256: digest,
  tenant: key,
  subject: z.string().regex(/^[A-Za-z0-9\-_.:@]{1,256}$/),
  actorType: z.enum(['human', 'service-account']),
  scopes: z.array(z.enum(SCOPES)).min(1),
  /** Seconds since 1970: refused afterwards. */
  expiresAt: z.int().optional(),
})
export type Application = z.infer<typeof Application>

const Times = z
  .strictObject({
    /** Of a lease of this controller, s. */
    lease: z.number().min(1).default(5),
    /**
     * A worker that is well is looked at so often, s: whether it may sleep, and how long it has. A request that it does not answer is heard of
     * at once. Most of what an idle worker costs are the looks.
     */
    inspect: z.number().min(0.1).default(60),
    /** Unused for so long a worker is put to sleep, s. */
    idle: z.number().min(0.5).default(600),
    /** A worker is started for so long, s. */
    worker: z
      .int()
      .min(60)
      .default(12 * 3600),
    /** So long before its end it is replaced when nobody uses it, and … */
    renew: z.int().default(3600),
    /** … so long before, even so, s. */
    replace: z.int().default(120),
    grant: z.int().min(5).max(300).default(300),
    /** How long a request waits for a worker to wake, s. */
    wake: z.number().default(60),
  })
  .prefault({})
export type Times = z.infer<typeof Times>

export const ControllerConfig = z.strictObject({
  id: key,
  listen,
  /** How users reach this controller, or what stands before all of them; without a `/` at the end. */
  baseUrl: z.url(),
  databaseFile: z.string(),
  /** 32 bytes; no worker ever sees it. */
  signingSeedFile: z.string(),
  /** 32 bytes or more, the same for all controllers. */
  grantKeyFile: z.string(),
  applications: z.array(Application),
  provider: z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
    url: z.url(),
    bearerFile: z.string(),
    capabilities: Capabilities,
    /** Of a PEM file, for workers that are reached by https. */
    authorityFile: z.string().optional(),
  }),
  /** What workers may ask of this controller, and where. */
  workers: z.strictObject({ listen, keyFile: z.string(), models: z.array(ModelProvider) }),
  launch: z.strictObject({ root: z.string(), stateRoot: z.string() }),
  times: Times,
})
export type ControllerConfig = z.infer<typeof ControllerConfig>

export function readConfig<Config>(schema: z.ZodType<Config>, file: string): Config {
  const parsed = schema.safeParse(JSON.parse(readFileSync(file, 'utf8')))
  if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}
