import { CONTROL_CHARACTERS } from '../../../kernel/text.js';
import { tidy } from '../../../kernel/typed-text.js';
import { Fault } from '../../../kernel/fault.js';
import { ApiProperty, Field, Nested, PageOf, type Rule } from '../../../platform/dto/field.js';
import { text, TIME, UUID } from '../../../platform/dto/rules.js';
import { readRecordable } from '../../../platform/http/admin/writes.js';
import { MAX_PAGE } from '../../../platform/http/list-query.js';
import { PORTAL_SCOPES, PORTAL_SESSION_STATUSES, type PortalActor } from '../domain/portal-session.js';

const MAX_LENGTH = 255;
const MAX_URL = 2048;

function readLabel(value: string): string | Fault {
  const trimmed = tidy(value);
  const length = [...trimmed].length;
  if (length === 0 || length > MAX_LENGTH) return new Fault(`must have 1 to ${MAX_LENGTH} characters`);
  return CONTROL_CHARACTERS.test(trimmed)
    ? new Fault('must not contain control characters')
    : readRecordable(trimmed);
}
const label = text({ minLength: 1, maxLength: MAX_LENGTH }, readLabel);

const SCOPES = {
  type: 'array',
  items: { type: 'string', enum: PORTAL_SCOPES },
  minItems: 1,
  uniqueItems: true,
};

const scopes: Rule = {
  schema: SCOPES,
  read: (value) => {
    if (!Array.isArray(value) || value.length === 0) return new Fault('must be an array of scopes');
    const unknown = value.findIndex((each) => !PORTAL_SCOPES.includes(each as string));
    if (unknown >= 0) return new Fault(`[${unknown}] must be one of ${PORTAL_SCOPES.join(', ')}`);
    return PORTAL_SCOPES.filter((each) => value.includes(each));
  },
};

class NewActor implements PortalActor {
  @Field(label, {
    description: 'Your id of the person.',
  })
  id!: string;

  @Field(label, { description: 'Displayed in the portal.' }) name!: string;
}

/** Body of POST portal_sessions. */
export class NewPortalSessionBody {
  @Field(scopes, {
    optional: true,
    description: 'Absent: every `:read`, `endpoints:write` and `deliveries:write`.',
  })
  scopes?: readonly string[];

  @Nested(() => NewActor, { optional: true, nullable: true, description: 'Who will use the session.' })
  actor?: NewActor | null;

  @Field(text({ format: 'uri', maxLength: MAX_URL }), {
    optional: true,
    nullable: true,
    description: 'Where a link in the portal leads back to: https; in the sandbox also http on loopback.',
  })
  return_url?: string | null;
}

class DisplayedActor {
  @ApiProperty({ type: 'string' }) id!: string;
  @ApiProperty({ type: 'string' }) name!: string;
}

class DisplayedPortalSession {
  @ApiProperty(UUID) id!: string;
  @Nested(() => DisplayedActor, { nullable: true }) actor!: DisplayedActor | null;
  @ApiProperty(SCOPES) scopes!: readonly string[];
  @ApiProperty({ type: 'string', nullable: true }) return_url!: string | null;
  @ApiProperty({ type: 'string', enum: PORTAL_SESSION_STATUSES }) status!: string;
  @ApiProperty(TIME) created_at!: string;
  @ApiProperty({ ...TIME, description: 'The url is good until then.' }) code_expires_at!: string;

  @ApiProperty({ ...TIME, nullable: true, description: 'null until the person has opened the url.' })
  session_expires_at!: string | null;

  @ApiProperty({ ...TIME, nullable: true, description: 'Exact to a minute.' }) last_seen_at!: string | null;
}

export class PortalSessionResponse {
  @Nested(() => DisplayedPortalSession) portal_session!: DisplayedPortalSession;

  @ApiProperty({ type: 'string', format: 'uri', description: 'Redirect the person there at once.' })
  url!: string;
}

export class PortalSessionsResponse extends PageOf('portal_sessions', DisplayedPortalSession, {
  maxItems: MAX_PAGE,
}) {}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** Whether a person may be led there: https, and in the sandbox http of this machine. */
export function isReturnUrl(url: string, mode: 'sandbox' | 'production'): boolean {
  if (url.length > MAX_URL || CONTROL_CHARACTERS.test(url) || !URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (mode === 'sandbox' && protocol === 'http:' && LOOPBACK.test(hostname));
}
