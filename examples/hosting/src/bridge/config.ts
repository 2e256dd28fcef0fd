/** The file a bridge is started with. */
import * as z from 'zod'

const digest = z.string().regex(/^[0-9a-f]{64}$/)
const port = z.int().min(0).max(65_535)

/** Where the parts of a worker stand on this machine. */
const Programs = z.strictObject({
  /** The folder of the package of svc … */
  package: z.string().startsWith('/'),
  /** … and its program in it. */
  main: z.string(),
  /** The folder in which `inside.js` stands. */
  inside: z.string().startsWith('/'),
})

const Driver = z.discriminatedUnion('kind', [
  /** `isolation: "off"` is for the control of a test: it isolates nothing. */
  z.strictObject({ kind: z.literal('bubblewrap'), programs: Programs, isolation: z.enum(['on', 'off']).default('on') }),
  z.strictObject({
    kind: z.literal('podman'),
    programs: Programs,
    /** Before all others of `podman`, and of `podman run`: what this machine needs. */
    options: z.array(z.string()).default([]),
    runOptions: z.array(z.string()).default([]),
  }),
  z.strictObject({
    kind: z.literal('kubernetes'),
    namespace: z.string(),
    /** By the name in a spec. */
    images: z.record(z.string(), z.string()),
    /** A secret with `tls.crt` and `tls.key` for `*.<namespace>.svc`. */
    tlsSecret: z.string(),
    storageClass: z.string().optional(),
    runtimeClass: z.string().optional(),
    /** Where workers find controllers. */
    hostUrl: z.string(),
  }),
])
export type DriverConfig = z.infer<typeof Driver>

export const BridgeConfig = z.strictObject({
  provider: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/),
  listen: z.strictObject({ host: z.string(), port }),
  data: z.string().startsWith('/'),
  coordinators: z.array(z.strictObject({ sha256: digest })).min(1),
  /** Shared with controllers: workers are known to them by it. */
  workerKeyFile: z.string(),
  /** Where controllers hear workers; the first that can be reached is asked. */
  hosts: z.array(z.strictObject({ host: z.string(), port })),
  /** Installation configuration of each worker, without secrets. */
  workerConfig: z.looseObject({}),
  driver: Driver,
})
export type BridgeConfig = z.infer<typeof BridgeConfig>
