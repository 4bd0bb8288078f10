import type twilio from 'twilio';
import { Inject, Injectable, Optional, type OnApplicationShutdown } from '@nestjs/common';
import { ProviderRefused, ProviderUnavailable } from '../../../platform/outbound/provider-errors.js';
import { MessageUncertain, type SmsSender } from '../providers/providers.ports.js';
import { onboardingConfig, type OnboardingConfig } from '../onboarding.config.js';
import { ProviderClient, unavailable } from '../providers/provider-client.adapter.js';

type TwilioRequest = Parameters<twilio.RequestClient['request']>[0];

async function relay(client: ProviderClient, request: TwilioRequest) {
  const { method, uri, username = '', password = '', headers = {}, data = {} } = request;
  const body = new URLSearchParams(
    Object.entries(data as object).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const result = await client.relay(method, uri, new Headers({ ...headers, authorization }), body.toString());
  if (result.kind === 'response') return { statusCode: result.status, body: result.body.toString() };
  const { phase, error } = result;
  // The phase of a timeout is only in its message.
  const neverArrived =
    ['address', 'dns', 'connect', 'tls'].includes(phase) || /connecting|resolving/.test(error);
  throw neverArrived ? unavailable('Twilio', error) : new MessageUncertain(error);
}

/** The Twilio account. Either the sender or the messaging service is set. */
type TwilioAccount = Pick<OnboardingConfig, 'twilioUrl' | 'twilioFrom' | 'twilioMessagingServiceSid'> &
  Readonly<Record<'twilioAccountSid' | 'twilioAuthToken', string>>;

/** The error codes of numbers that never get a message (https://www.twilio.com/docs/api/errors). */
const REFUSED_NUMBERS: readonly unknown[] = [21211, 21408, 21608, 21610, 21612, 21614, 21635];

@Injectable()
export class TwilioSms implements SmsSender, OnApplicationShutdown {
  private readonly client;
  private twilio: twilio.Twilio | null = null;

  constructor(
    @Inject(onboardingConfig.KEY) private readonly account: TwilioAccount,
    @Optional() timeoutMs?: number,
  ) {
    this.client = new ProviderClient(account.twilioUrl, timeoutMs);
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
      throw unavailable('Twilio', 'the response is not a message of our account');
    if (status === 'failed' || status === 'undelivered' || status === 'canceled')
      throw unavailable('Twilio', `the message is ${status} at once`);
  }

  onApplicationShutdown(): Promise<void> {
    return this.client.close();
  }

  /** Loads the package (20 MB, 250 ms) at the first message. */
  private async open(): Promise<twilio.Twilio> {
    const { default: open } = await import('twilio');
    const { twilioAccountSid, twilioAuthToken } = this.account;
    const httpClient = { request: (request: TwilioRequest) => relay(this.client, request) } as never;
    return open(twilioAccountSid, twilioAuthToken, { httpClient, autoRetry: false });
  }
}

/** Throws an error without Twilio's message, which quotes the phone number. */
function fail(error: unknown): never {
  if (error instanceof MessageUncertain || error instanceof ProviderUnavailable) throw error;
  const { status, code } = error as { readonly status?: unknown; readonly code?: unknown };
  if (typeof status !== 'number') throw unavailable('Twilio', 'its response is malformed');
  const summary = typeof code === 'number' ? `${status}, error ${code}` : String(status);
  if (status === 400 && REFUSED_NUMBERS.includes(code))
    throw new ProviderRefused('We cannot send a message to this number', null, {
      cause: new Error(`Twilio responds with ${summary}`),
    });
  throw unavailable('Twilio', `it responds with ${summary}`);
}
