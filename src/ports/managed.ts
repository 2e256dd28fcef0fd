/** What the operator manages, as routes see it (http-contract §5.7). */
import type { Caller } from '../protocol/caller.js'
import type { ManagedResource, MarkdownWriteRequest, ResourceScope } from '../protocol/resource/managed.js'
import type { SkillVersion, SkillWriteRequest } from '../protocol/resource/managed-skills.js'
import type {
  ManagedRepository,
  ManagedWorkspace,
  RepositoryCreateRequest,
  RepositoryUpdateRequest,
  WorkspaceCreateRequest,
  WorkspaceUpdateRequest,
} from '../protocol/workspace/workspaces.js'

/** The place that managed resources are kept in. */
export interface ManagedPlace {
  readonly scope: ResourceScope
  /** Canonical directory of the workspace; for the installation its configuration root. */
  readonly directory: string
}

/** A kind of managed resource that is one Markdown file. `ifMatch` is the header as it came. */
export interface ManagedMarkdown {
  /** By id: built-in, discovered and managed ones. */
  list(place: ManagedPlace): Promise<ManagedResource[]>
  /** Throws `management.not_found`. */
  get(place: ManagedPlace, id: string, ifMatch: string | undefined): Promise<ManagedResource>
  /** Throws `management.revision_conflict` with `currentRevision` when it exists and was not expected, or the other way round. */
  create(place: ManagedPlace, id: string, request: MarkdownWriteRequest, ifMatch: string | undefined): Promise<ManagedResource>
  update(place: ManagedPlace, id: string, request: MarkdownWriteRequest, ifMatch: string | undefined): Promise<ManagedResource>
  delete(place: ManagedPlace, id: string, ifMatch: string | undefined): Promise<void>
}

/** Skills: folders of files with all their versions. */
export interface ManagedSkills {
  list(place: ManagedPlace): Promise<ManagedResource[]>
  get(place: ManagedPlace, id: string, ifMatch: string | undefined): Promise<ManagedResource>
  create(place: ManagedPlace, id: string, request: SkillWriteRequest, ifMatch: string | undefined): Promise<ManagedResource>
  update(place: ManagedPlace, id: string, request: SkillWriteRequest, ifMatch: string | undefined): Promise<ManagedResource>
  delete(place: ManagedPlace, id: string, ifMatch: string | undefined): Promise<void>
  /** The oldest first; they outlive the skill. */
  versions(place: ManagedPlace, id: string): Promise<SkillVersion[]>
  version(place: ManagedPlace, id: string, version: string): Promise<SkillVersion>
  /** Byte for byte; made again when it is gone. */
  restore(
    place: ManagedPlace,
    id: string,
    version: string,
    expected: { readonly query: string | undefined; readonly ifMatch: string | undefined },
  ): Promise<ManagedResource>
}

/** Registered workspaces. What lies outside the caller's directories is not there for it. */
export interface ManagedWorkspaces {
  list(caller: Caller): Promise<ManagedWorkspace[]>
  get(caller: Caller, id: string): Promise<ManagedWorkspace>
  /** Throws `resource.conflict` for a root or id that is registered. */
  create(caller: Caller, request: WorkspaceCreateRequest): Promise<ManagedWorkspace>
  update(caller: Caller, id: string, request: WorkspaceUpdateRequest, ifMatch: string | undefined): Promise<ManagedWorkspace>
  /** Its files stay. */
  delete(caller: Caller, id: string, expected: string | undefined): Promise<void>
}

/** Registered workspaces that are the top of a Git worktree. */
export interface ManagedRepositories {
  list(caller: Caller): Promise<ManagedRepository[]>
  get(caller: Caller, id: string): Promise<ManagedRepository>
  create(caller: Caller, request: RepositoryCreateRequest, signal: AbortSignal): Promise<ManagedRepository>
  update(caller: Caller, id: string, request: RepositoryUpdateRequest, ifMatch: string | undefined): Promise<ManagedRepository>
  delete(caller: Caller, id: string, expected: string | undefined): Promise<void>
}

/** What the operator manages. */
export interface Management {
  /** Throws `management.disabled`. */
  requireOn(): void
  /** The place a call means. Throws `management.disabled`, and `management.invalid_request` when body and query disagree. */
  place(directory: string, scopes: { readonly asked: ResourceScope | undefined; readonly body?: ResourceScope | undefined }): ManagedPlace
  readonly agents: ManagedMarkdown
  readonly commands: ManagedMarkdown
  readonly skills: ManagedSkills
  readonly workspaces: ManagedWorkspaces
  readonly repositories: ManagedRepositories
}
