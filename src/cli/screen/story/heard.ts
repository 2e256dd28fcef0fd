/** An event of the server, as the client tells it. */
import type { PromptOptions } from '../../../published/client/client-types.js'

export type Heard = Exclude<Parameters<NonNullable<PromptOptions['onEvent']>>[0], { readonly type: 'gap' }>
