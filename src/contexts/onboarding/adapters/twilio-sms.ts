import type twilio from 'twilio';
import { Inject, Injectable, Optional, type OnApplicationShutdown } from '@nestjs/common';
import type { OutboundClient } from '../../../platform/outbound/outbound-client.js';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { MessageUncertain, type SmsSender } from '../application/ports.js';
import { onboardingConfig, type OnboardingConfig } from '../settings.js';
import { plainHeaders, providerClient, unavailable } from './provider-client.js';

type TwilioRequest = Parameters<twilio.RequestClient['request']>[0];

/** The HTTP client of Twilio's package in place of axios. Sends every request to `base`. */
class TwilioTransport {
  constructor(
    private readonly client: Pick<OutboundClient, 'post'>,
    private readonly base: string,
  ) {}

  async request(request: TwilioRequest): Promise<{ statusCode: number; body: string }> {
    if (request.method !== 'post') throw new Error(`no ${request.method} is expected`);
    const { pathname, search } = new URL(request.uri);
    const { username = '', password = '', headers = {}, data = {} } = request;
    const body = new URLSearchParams(
      Object.entries(data as object).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const result = await this.client.post(
      this.base.replace(/\/+$/, '') + pathname + search,
      {
        ...plainHeaders(headers),
        authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      },
      body.toString(),
    );
    if (result.kind === 'response') return { statusCode: result.status, body: result.body.toString() };
    const { phase, error } = result;
    // The message of a timeout names its phase.
    const neverArrived =
      ['address', 'dns', 'connect', 'tls'].includes(phase) || /connecting|resolving/.test(error);
    throw neverArrived ? unavailable('Twilio', error) : new MessageUncertain(error);
  }
}

/** Exactly one of the sender and the messaging service is set. */
type TwilioAccount = Pick<OnboardingConfig, 'twilioUrl' | 'twilioFrom' | 'twilioMessagingServiceSid'> &
  Readonly<Record<'twilioAccountSid' | 'twilioAuthToken', string>>;

/**
 * Codes of https://www.twilio.com/docs/api/errors for numbers that never get a message: no number, a country that the
 * account does not send to, not verified by a trial account, unsubscribed, out of reach, no mobile, a landline.
 */
const REFUSED_NUMBERS: readonly unknown[] = [21211, 21408, 21608, 21610, 21612, 21614, 21635];
const REASON = 'We cannot send a message to this number';

/** Codes by SMS through Twilio (ADR 124). */
@Injectable()
export class TwilioSms implements SmsSender, OnApplicationShutdown {
  private readonly client;
  private twilio: twilio.Twilio | null = null;

  constructor(
    @Inject(onboardingConfig.KEY) private readonly account: TwilioAccount,
    @Optional() timeoutMs?: number,
  ) {
    this.client = providerClient(timeoutMs);
  }

  async send(
    phoneNumber: string,
    { text, validSeconds }: { readonly text: string; readonly validSeconds: number },
  ): Promise<void> {
    const { twilioFrom, twilioMessagingServiceSid } = this.account;
    const twilio = (this.twilio ??= await this.open());
    const message = await twilio.messages
      .create({
        to: phoneNumber,
        ...(twilioFrom === null ? {} : { from: twilioFrom }),
        ...(twilioMessagingServiceSid === null ? {} : { messagingServiceSid: twilioMessagingServiceSid }),
        body: text,
        validityPeriod: validSeconds,
      })
      .catch((error: unknown) => fail(error));
    const { sid, accountSid, status } = message as { sid: unknown; accountSid: unknown; status: unknown };
    if (!/^(SM|MM)[0-9a-f]{32}$/.test(String(sid)) || accountSid !== this.account.twilioAccountSid)
      throw unavailable('Twilio', 'the response is no message of ours');
    if (status === 'failed' || status === 'undelivered' || status === 'canceled')
      throw unavailable('Twilio', `the message is ${status} at once`);
  }

  onApplicationShutdown(): Promise<void> {
    return this.client.close();
  }

  /** Loads the package at the first message, because that takes a quarter of a second and 20 MB. */
  private async open(): Promise<twilio.Twilio> {
    const { default: open } = await import('twilio');
    const { twilioAccountSid, twilioAuthToken, twilioUrl } = this.account;
    const httpClient = new TwilioTransport(this.client, twilioUrl) as never;
    return open(twilioAccountSid, twilioAuthToken, { httpClient, autoRetry: false });
  }
}

/** Twilio's message quotes the number, so it is dropped. */
function fail(error: unknown): never {
  if (error instanceof MessageUncertain || error instanceof ProviderUnavailable) throw error;
  const { status, code } = error as { readonly status?: unknown; readonly code?: unknown };
  if (typeof status !== 'number') throw unavailable('Twilio', 'its response makes no sense');
  const summary = typeof code === 'number' ? `${status}, error ${code}` : String(status);
  if (status === 400 && REFUSED_NUMBERS.includes(code))
    throw new ProviderRefused(REASON, null, { cause: new Error(`Twilio responds with ${summary}`) });
  throw unavailable('Twilio', `it responds with ${summary}`);
}
