/** What a listener is called by programs on the same machine, where nothing else was set. */
export function listenerUrl(host: string, port: number): string {
  return `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${port}`;
}
