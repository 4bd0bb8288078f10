/** The credentials of a sandbox merchant. */
export interface SandboxMerchant {
  readonly api_key: string;
  readonly private_key: string;
}

/** The exchange keys of the first merchant. The `open_` key requires no signatures, the other one does. */
export interface SandboxExchange {
  readonly api_key: string;
  readonly secret: string;
  readonly open_api_key: string;
  readonly open_secret: string;
}

/** The admin API keys of two administrators. Each may approve the requests of the other. */
export interface SandboxAdmin {
  readonly api_key: string;
  readonly approver_api_key: string;
}

/**
 * The contents of `sandbox.json`, with which programs use the running sandbox. The file exists from
 * readiness until the stop.
 */
export interface SandboxFile {
  readonly base_url: string;
  readonly widget_url: string;
  readonly pay_url: string;
  readonly metrics_url: string;
  readonly console_url: string;
  readonly portal_url: string;
  readonly admin: SandboxAdmin & { readonly base_url: string };
  readonly merchant: SandboxMerchant;
  readonly second_merchant: SandboxMerchant;
  readonly exchange: SandboxExchange;
  readonly chain: {
    readonly rpc_url: string;
    readonly chain_id: number;
    readonly usdc_address: string;
    /** The key of an account with gas and test USDC; null on a chain that is not the sandbox's own. */
    readonly funded_private_key: string | null;
  };
  /** The process id of the service. */
  readonly pid: number;
}

/** The messages of a booting service to the process that started it (`npm start`). */
export type Announcement =
  | { readonly type: 'started'; readonly step: string }
  | { readonly type: 'done'; readonly step: string; readonly note: string }
  | { readonly type: 'ready'; readonly sandbox: SandboxFile; readonly loginUrl: string };

let parentListens = false;

/** Notifies the parent process, if {@link followParent} found one. */
export function announce(announcement: Announcement): void {
  if (parentListens && process.connected) process.send?.(announcement);
}

/** Runs one step of the boot and reports its start and end, with a `note` of the result. */
export async function step<T>(name: string, work: () => Promise<T>, note: (result: T) => string): Promise<T> {
  announce({ type: 'started', step: name });
  const result = await work();
  announce({ type: 'done', step: name, note: note(result) });
  return result;
}

/** Reports the boot of a service process to `npm start`. Shuts the service down when that parent dies. */
export function followParent(): void {
  if (!process.connected) return;
  parentListens = true;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}
