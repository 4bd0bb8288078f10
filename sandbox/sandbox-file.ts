/** A merchant of the sandbox: what its requests are signed with. */
export interface SandboxMerchant {
  readonly api_key: string;
  readonly private_key: string;
}

/** `sandbox.json`: all that a program needs to use a running sandbox. Written when it is ready, gone when it stops. */
export interface SandboxFile {
  readonly base_url: string;
  readonly widget_url: string;
  readonly pay_url: string;
  readonly metrics_url: string;
  readonly merchant: SandboxMerchant;
  readonly second_merchant: SandboxMerchant;
  readonly chain: {
    readonly rpc_url: string;
    readonly chain_id: number;
    readonly usdc_address: string;
    /** Key of an account with gas and test USDC; null on a chain that is not the sandbox's own. */
    readonly funded_private_key: string | null;
  };
  /** Process id of the service. */
  readonly pid: number;
}
