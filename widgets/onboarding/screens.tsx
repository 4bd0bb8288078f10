import { useState } from 'preact/hooks';
import type { PageStep, StepState } from './api.js';
import { Code } from './code.js';
import { Details, NOTHING_TYPED } from './details.js';
import { Documents } from './documents.js';
import { CardFailed, Done, Failed } from './outcome.js';
import { usePage } from './page.js';
import { Phone } from './phone.js';
import type { Place, PlaceKeeper } from './place.js';
import { Review, Setup } from './waiting.js';

/** Returns the step of a person. A missing state means that there is no session yet. */
export function stepOf(state: StepState | null, place: Place): PageStep {
  const mayChange = state?.stage === 'details_confirmed' || state?.stage === 'kyc_failed';
  if (place.changing === true && mayChange) return 'details';
  switch (state?.stage) {
    case undefined:
    case 'not_started':
    case 'started':
      return place.codeSentAt === undefined ? 'phone' : 'code';
    case 'phone_verified':
      return 'details';
    case 'details_confirmed':
      return 'documents';
    case 'kyc_submitted':
      return 'review';
    case 'kyc_failed':
      return 'failed';
    case 'card_failed':
      return 'card_failed';
    case 'completed':
      return 'done';
    default:
      return 'setup';
  }
}

interface ScreensProps {
  readonly state: StepState | null;
  readonly place: Place;
  readonly notice: string | null;
  readonly step: PageStep;
  readonly keep: PlaceKeeper['change'];
  readonly follow: (state: StepState) => void;
  readonly setNotice: (words: string | null) => void;
}

/** One screen a step. */
export function Screens({ state, place, notice, step, keep, follow, setNotice }: ScreensProps) {
  const [typed, type] = useState(NOTHING_TYPED);
  const { format } = usePage();
  const change = (): void => keep({ changing: true });
  const requested = (long = place.longCode): void => keep({ codeSentAt: Date.now(), longCode: long });
  if (step === 'phone')
    return (
      <Phone
        notice={notice}
        sent={({ long, notice }) => {
          setNotice(notice === null ? null : format(notice));
          requested(long);
        }}
      />
    );
  if (step === 'code')
    return (
      <Code
        sentAt={place.codeSentAt!}
        notice={notice}
        isLong={place.longCode === true}
        sentAgain={requested}
        back={() => {
          setNotice(null);
          keep({ codeSentAt: undefined });
        }}
        verified={follow}
      />
    );
  if (step === 'setup') return <Setup follow={follow} />;
  if (step === 'done' || state === null) return <Done />;
  switch (step) {
    case 'details':
      return (
        <Details
          typed={typed}
          type={type}
          notice={notice}
          confirmed={(now) => {
            keep({ changing: undefined });
            follow(now);
          }}
          back={place.changing === true ? () => keep({ changing: undefined }) : null}
        />
      );
    case 'documents':
      return (
        <Documents
          state={state}
          follow={follow}
          notice={notice}
          document={place.document}
          chooseDocument={(document) => keep({ document })}
          changeDetails={change}
        />
      );
    case 'review':
      return <Review state={state} follow={follow} />;
    case 'failed':
      return <Failed state={state} retry={change} />;
    case 'card_failed':
      return <CardFailed state={state} follow={follow} />;
  }
}
