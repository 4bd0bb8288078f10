/** The error of a call that may be repeated. The logged message has no secrets and no personal data. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';

  constructor(
    message: string,
    /** `later`: the provider requires a delay. `contradiction`: an operator has to check the response. */
    readonly kind: 'unavailable' | 'later' | 'contradiction' = 'unavailable',
  ) {
    super(message);
  }
}

/** The error of a permanent refusal. The message is for the person or the caller. */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';

  constructor(
    message: string,
    readonly parameter:
      'pair_id' | 'withdraw_address' | 'withdraw_address_tag' | 'withdraw_address_memo' | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
