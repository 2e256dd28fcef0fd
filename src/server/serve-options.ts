/** What the service is started with. */
export interface ServeOptions {
  readonly port: number
  readonly hostname: string
  /** Origins a browser page may call from. */
  readonly origins: readonly string[]
  /** Host names this server answers to besides the loopback ones. */
  readonly hosts: readonly string[]
  /** The inspector may show payloads, prompts included. */
  readonly inspectPayloads?: true
  /** Nothing is executed: many share the server. */
  readonly controlPlane?: true
  /** Files of a worker: it is for one workspace of a controller's. */
  readonly worker?: {
    readonly bootstrap: string
    readonly verificationKey: string
    /** Who lends it credentials for models, and the file of what it is asked with. */
    readonly broker?: { readonly url: string; readonly tokenFile: string }
  }
}
