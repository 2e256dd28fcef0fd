/** Formatters of a directory, and the acts that let them run code of it: operations of `dev.svc.files` (choice 34). */
import * as z from 'zod'
import { ACT, AcceptanceRemoved, AcceptRequest, ProgramAcceptance, ProgramStanding } from '../acceptance/acceptance.js'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery } from '../shared.js'

/** A formatter that the installation has switched on, for a file at the top of the directory. */
export const FormatterStatus = z
  .looseObject({
    id: z.string(),
    command: z.array(z.string()),
    /** Lower case, without a dot. */
    extensions: z.array(z.string()),
    /** Files there want it. */
    wanted: z.boolean(),
    /** Why it would run code of the workspace, or cannot be used; null when neither is so. */
    problem: z.string().nullable(),
    /** Null when its entry cannot be used. */
    acceptance: ProgramStanding.nullable(),
  })
  .meta({ id: 'FormatterStatus' })
export type FormatterStatus = z.infer<typeof FormatterStatus>

export const FormatterParams = z.strictObject({ formatter: z.string() })

const PREFIX = '/v2/plugins/dev.svc.files/formatters'
const common = { tag: 'plugins', headers: directoryHeaders, query: z.strictObject(directoryQuery) } as const
const one = { ...common, ...ACT, params: FormatterParams } as const

export const formatterRoutes = {
  list: defineRoute({
    ...common,
    access: { class: 'directory' },
    id: 'v2.plugins.files.formatters',
    method: 'GET',
    path: PREFIX,
    summary: 'Formatters that are switched on, and whether they may run. None is started.',
    success: { status: 200, description: 'In the order in which they run.', schema: z.array(FormatterStatus) },
  }),
  accept: defineRoute({
    ...one,
    id: 'v2.plugins.files.formatters.accept',
    method: 'POST',
    path: `${PREFIX}/{formatter}/acceptance`,
    summary: 'Let a formatter run code of a workspace, with the command it has now.',
    body: { schema: AcceptRequest, required: false },
    success: { status: 200, description: 'What is remembered.', schema: ProgramAcceptance },
  }),
  takeBack: defineRoute({
    ...one,
    id: 'v2.plugins.files.formatters.takeBack',
    method: 'DELETE',
    path: `${PREFIX}/{formatter}/acceptance`,
    summary: 'Let it run code of the workspace no more.',
    success: { status: 200, description: 'Whether there was something to take back.', schema: AcceptanceRemoved },
  }),
} as const
