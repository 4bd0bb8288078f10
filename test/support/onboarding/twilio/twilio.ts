import { randomBytes } from 'node:crypto';
import { ProviderServer, Refusal, type ProviderCall, type Response } from '../../exchange/provider-server.js';

const TWILIO_ACCOUNT = {
  twilioAccountSid: `AC${'1a'.repeat(16)}`,
  twilioAuthToken: 'an-auth-token-of-twilio',
  twilioFrom: '+15005550006',
  twilioMessagingServiceSid: null,
};
export const TWILIO_SERVICE = `MG${'2b'.repeat(16)}`;

/** Parameters of the Messages resource (twilio/twilio-oai, twilio_api_v2010.json) that the service sends. */
const PARAMETERS = new Set(['To', 'From', 'MessagingServiceSid', 'Body', 'ValidityPeriod']);
const E164 = /^\+[1-9]\d{6,14}$/;

interface SentMessage {
  readonly to: string;
  readonly from: string | null;
  readonly body: string;
  readonly validitySeconds: number;
}

class Refused extends Refusal {
  constructor(status: number, code: number, message: string) {
    super(status, { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status });
  }
}

/** A local server with messages of version 2010-04-01 of Twilio's API. */
export class Twilio extends ProviderServer {
  readonly messages: SentMessage[] = [];
  /** Twilio's error codes by number. */
  readonly numbers = new Map<string, number>();

  static async start(): Promise<Twilio> {
    const twilio = new Twilio();
    await twilio.restart();
    return twilio;
  }

  get account() {
    return { ...TWILIO_ACCOUNT, twilioUrl: this.url };
  }

  get settings() {
    const { twilioAccountSid, twilioAuthToken, twilioFrom } = TWILIO_ACCOUNT;
    return {
      ONBOARDING_SMS: 'twilio',
      TWILIO_ACCOUNT_SID: twilioAccountSid,
      TWILIO_AUTH_TOKEN: twilioAuthToken,
      TWILIO_FROM: twilioFrom,
      TWILIO_URL: this.url,
    };
  }

  lastCode(to: string): string | null {
    const last = this.messages.findLast((each) => each.to === to);
    return last === undefined ? null : (/\b\d{6}\b|\d{3}(?: \d{3}){5}/.exec(last.body)?.[0] ?? null);
  }

  protected override respondTo({ method, path, headers, body }: ProviderCall): Response {
    const { twilioAccountSid: sid, twilioAuthToken: token } = TWILIO_ACCOUNT;
    if (headers.authorization !== `Basic ${Buffer.from(`${sid}:${token}`).toString('base64')}`)
      throw new Refused(401, 20003, 'Authenticate');
    if (path !== `/2010-04-01/Accounts/${sid}/Messages.json` || method !== 'POST')
      throw new Refused(404, 20404, `The requested resource ${path} was not found`);
    const fields = new URLSearchParams(body);
    const unknown = [...fields.keys()].find((name) => !PARAMETERS.has(name));
    if (unknown !== undefined) throw new Refused(400, 20001, `Unknown parameters in the request: ${unknown}`);
    const [to, from, service, text] = ['To', 'From', 'MessagingServiceSid', 'Body'].map((name) =>
      fields.get(name),
    );
    if (!to || !E164.test(to))
      throw new Refused(400, 21211, `The 'To' number ${to} is not a valid phone number.`);
    if (!from && !service) throw new Refused(400, 21603, "A 'From' phone number is required.");
    if (from && from !== TWILIO_ACCOUNT.twilioFrom)
      throw new Refused(400, 21606, `The 'From' phone number provided is not a valid message-capable number`);
    if (service && service !== TWILIO_SERVICE)
      throw new Refused(404, 20404, 'The messaging service was not found');
    if (!text || text.length > 1600)
      throw new Refused(400, 21617, 'The concatenated message body exceeds the limit');
    const validity = fields.get('ValidityPeriod') ?? '36000';
    if (!/^\d+$/.test(validity) || Number(validity) < 1 || Number(validity) > 36_000)
      throw new Refused(400, 21621, 'Invalid Validity Period');
    const bad = this.numbers.get(to);
    if (bad !== undefined) throw new Refused(400, bad, `Error ${bad} of ${to}: ${text}`);
    this.messages.push({ to, from: from ?? null, body: text, validitySeconds: Number(validity) });
    const status = service ? 'accepted' : 'queued';
    return [201, { account_sid: sid, sid: `SM${randomBytes(16).toString('hex')}`, status, error_code: null }];
  }
}
