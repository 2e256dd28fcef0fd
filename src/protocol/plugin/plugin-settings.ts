/** Settings and secrets of one plugin, for the operator: values of secrets are given, and never answered (decision 46). */
import * as z from 'zod'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery } from '../shared.js'

/** A secret is one line, long enough to be found wherever it is repeated. */
export const SecretValue = z
  .string()
  .min(8, 'a secret has at least 8 characters')
  .max(16_384)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])$/, 'a secret is one line of ASCII without a space at its ends')

export const PluginSecret = z
  .looseObject({
    alias: z.string(),
    /** What it is for, as the manifest says. */
    purpose: z.string(),
    /** Where requests may carry it, and in which header. */
    hosts: z.array(z.string()),
    header: z.string(),
    isSet: z.boolean(),
    /** It was given when the manifest named other hosts: it goes to none that is new until it is given again. */
    isOutdated: z.boolean(),
  })
  .meta({ id: 'PluginSecret' })
export type PluginSecret = z.infer<typeof PluginSecret>

export const PluginSettings = z
  .looseObject({
    packageId: z.string(),
    /** JSON Schema of its config, as the manifest has it; absent when it has none. Its config is `plugins.<id>.options.config`. */
    schema: z.record(z.string(), z.unknown()).optional(),
    /** What of the config the schema does not allow. */
    problem: z.string().optional(),
    secrets: z.array(PluginSecret),
  })
  .meta({ id: 'PluginSettings' })
export type PluginSettings = z.infer<typeof PluginSettings>

const pluginParams = { plugin_id: z.string() }
const secretParams = z.strictObject({ ...pluginParams, alias: z.string() })
const common = {
  tag: 'plugins',
  access: { class: 'directory', operator: true },
  headers: directoryHeaders,
  query: z.strictObject(directoryQuery),
} as const

/** Beside `/v2/plugins/{plugin_id}`, where the routes are that plugins bring. */
const AT = '/v2/plugin-settings/{plugin_id}'

export const pluginSettingsRoutes = {
  get: defineRoute({
    ...common,
    id: 'v2.pluginSettings.get',
    method: 'GET',
    path: AT,
    params: z.strictObject(pluginParams),
    summary: 'Settings and secrets that a package declares, and which of them are given.',
    success: { status: 200, description: 'Without the value of any secret.', schema: PluginSettings },
  }),
  setSecret: defineRoute({
    ...common,
    id: 'v2.pluginSettings.secrets.set',
    method: 'PUT',
    path: `${AT}/secrets/{alias}`,
    params: secretParams,
    body: { schema: z.strictObject({ value: SecretValue }), required: true },
    summary: 'Give a package a secret that it declares, for the hosts that it declares.',
    success: { status: 200, description: 'The secret without its value.', schema: PluginSecret },
  }),
  removeSecret: defineRoute({
    ...common,
    id: 'v2.pluginSettings.secrets.delete',
    method: 'DELETE',
    path: `${AT}/secrets/{alias}`,
    params: secretParams,
    summary: 'Take a secret back from a package.',
    success: { status: 200, description: 'Whether there was one.', schema: z.boolean() },
  }),
} as const
