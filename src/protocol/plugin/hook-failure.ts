import * as z from 'zod'

/** A hook of a plugin that failed while a request was made; the request left without its changes. */
export const HookFailure = z
  .looseObject({ hook: z.string(), pluginId: z.string().optional(), toolId: z.string().optional(), message: z.string() })
  .meta({ id: 'HookFailure' })
export type HookFailure = z.infer<typeof HookFailure>
