/** Unknown, or not now: the call may be repeated. The message is logged: it holds no secrets and no personal data. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';

  constructor(
    message: string,
    /**
     * `later`: not yet, by the provider's own rules. `contradiction`: a response that contradicts an earlier one or what
     * was agreed, which an operator has to check.
     */
    readonly kind: 'unavailable' | 'later' | 'contradiction' = 'unavailable',
  ) {
    super(message);
  }
}

/** The provider will never accept it; the message is for the person or the caller. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';

  constructor(
    message: string,
    /** The one at fault when it is the caller's. */
    readonly parameter:
      'pair_id' | 'withdraw_address' | 'withdraw_address_tag' | 'withdraw_address_memo' | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
