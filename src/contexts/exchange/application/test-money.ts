/** Sends test USDC on the dev chain; the sandbox provides it, and nothing does in production. */
export interface TestMoney {
  /** `amount` in minor units. The hash of the transaction; throws `unavailable`. */
  transfer(to: string, amount: bigint): Promise<string>;
}

/** Nest injection token of {@link TestMoney}. */
export const TEST_MONEY = Symbol('TEST_MONEY');
