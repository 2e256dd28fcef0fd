/** Permissions of a workflow: what a definition may say, and the rules it becomes (subsystems a.3, a.14). */
import { LIMITS } from '../../../protocol/limits.js'
import type { PermissionRule } from '../../../protocol/interaction/interaction.js'
import type { WorkflowPermission, WorkflowPermissions } from '../../../protocol/workflow/workflow.js'
import { readFields, readMapping, readTexts } from './fields.js'
import { type Mistakes, type Path, shown } from './problems.js'

const FIELDS = ['default', 'allow', 'deny'] as const
const ASK = 'cannot be "ask", because nobody may be there to answer; use allow or deny'

/** Group by group, in the order of the file. */
export function readPermissions(value: unknown, path: Path, mistakes: Mistakes): WorkflowPermissions | undefined {
  const groups = readFields(value, path, mistakes)
  if (groups === undefined) return undefined
  const entries = Object.entries(groups)
  if (entries.length > LIMITS.workflows.permissionGroups) {
    return mistakes.add(path, `must have at most ${LIMITS.workflows.permissionGroups} groups, not ${entries.length}`)
  }
  const read = entries.flatMap(([group, given]) => {
    const at = [...path, group]
    if (group.trim() === '') mistakes.add(path, 'has a group without a name')
    const permission = readPermission(given, at, mistakes)
    return permission === undefined ? [] : [[group, permission] as const]
  })
  return Object.fromEntries(read)
}

/** Rules in evaluation order, where the last match wins: deny beats allow, and both beat the default. */
export function compilePermissions(permissions: WorkflowPermissions | undefined): PermissionRule[] {
  return Object.entries(permissions ?? {}).flatMap(([permission, given]) => {
    const rule = (pattern: string, action: 'allow' | 'deny'): PermissionRule => ({ permission, pattern, action })
    if (typeof given === 'string') return [rule('*', strict(given))]
    return [
      ...(given.default === undefined ? [] : [rule('*', strict(given.default))]),
      ...(given.allow ?? []).map((pattern) => rule(pattern, 'allow')),
      ...(given.deny ?? []).map((pattern) => rule(pattern, 'deny')),
    ]
  })
}

/** Whatever is not plainly allowed is denied. */
function strict(action: string): 'allow' | 'deny' {
  return action === 'allow' ? 'allow' : 'deny'
}

function readPermission(value: unknown, path: Path, mistakes: Mistakes): WorkflowPermission | undefined {
  if (typeof value === 'string') return readAction(value, path, mistakes)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return mistakes.add(path, `must be allow, deny, or a mapping with ${FIELDS.join(', ')}, not ${shown(value)}`)
  }
  if ('ask' in value) return mistakes.add([...path, 'ask'], ASK)
  const fields = readMapping(value, path, FIELDS, mistakes) ?? {}
  if (!FIELDS.some((field) => fields[field] !== undefined)) return mistakes.add(path, `must have one of ${FIELDS.join(', ')}`)
  const patterns = (field: 'allow' | 'deny') => readTexts(fields[field], [...path, field], mistakes, LIMITS.workflows.permissionPatterns)
  const action = fields['default'] === undefined ? undefined : readAction(fields['default'], [...path, 'default'], mistakes)
  const allow = fields['allow'] === undefined ? undefined : patterns('allow')
  const deny = fields['deny'] === undefined ? undefined : patterns('deny')
  return {
    ...(action === undefined ? {} : { default: action }),
    ...(allow === undefined ? {} : { allow }),
    ...(deny === undefined ? {} : { deny }),
  }
}

function readAction(value: unknown, path: Path, mistakes: Mistakes): string | undefined {
  if (value === 'ask') return mistakes.add(path, ASK)
  return value === 'allow' || value === 'deny' ? value : mistakes.add(path, `must be allow or deny, not ${shown(value)}`)
}
