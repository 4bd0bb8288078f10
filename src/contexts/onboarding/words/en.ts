/** English words of the onboarding: of the page, of its refusals and of the message with the code. Other languages have the same keys. */
export const en = {
  /** The text message; `{code}` and `{merchant}` are put in. */
  sms: '{code} is your code for {merchant}. Do not give it to anybody.',
};

export type Words = { readonly [Key in keyof typeof en]: string };
