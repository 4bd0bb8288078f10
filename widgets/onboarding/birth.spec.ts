import { describe, expect, it } from '@jest/globals';
import { birthOf, partsIn } from './birth.js';

const TODAY = '2026-11-22';

describe('a typed date of birth', () => {
  it.each([
    ['en', 'en-US', 'month day year'],
    ['en', 'en-GB', 'day month year'],
    ['en', 'fr-FR', 'month day year'],
    ['es', 'es-MX', 'day month year'],
    ['de', 'de-AT', 'day month year'],
    ['de', 'hu-HU', 'day month year'],
    ['en', 'en-ZA', 'year month day'],
  ])('on a page in %s in a browser of %s has the order %s', (locale, browser, order) => {
    expect(partsIn(locale, browser).join(' ')).toBe(order);
  });

  it.each([
    ['en', '10', '12', '1985', '1985-12-10'],
    ['en', ' 1', '3 ', '2000', '2000-03-01'],
    ['de', '01.', '03.', '1985', '1985-03-01'],
    ['de', '1.', 'März', '1985', '1985-03-01'],
    ['de', '1.', 'Okt.', '1985', '1985-10-01'],
    ['es', '7', 'diciembre', '1985', '1985-12-07'],
    ['es', '7', 'ENE', '1985', '1985-01-07'],
    ['en', '29', 'Feb', '1984', '1984-02-29'],
    ['en', '1', '1', '1900', '1900-01-01'],
    ['en', '21', '11', '2026', '2026-11-21'],
    ['en', '١٠', '١٢', '١٩٨٥', '1985-12-10'],
    ['de', '１０．', '\u200e12', '１９８５', '1985-12-10'],
  ])('on a page in %s is read as a day: %s %s %s is %s', (locale, day, month, year, date) => {
    expect(birthOf({ day, month, year }, locale, TODAY)).toBe(date);
  });

  it.each([
    ['', ' ', '', 'birthMissing', ['day', 'month', 'year']],
    ['1', '', '1985', 'birthIncomplete', ['month']],
    ['1', '3', '85', 'birthYear', ['year']],
    ['1', '3', '19855', 'birthYear', ['year']],
    ['31', '4', '1985', 'birthImpossible', ['day']],
    ['29', '2', '1985', 'birthImpossible', ['day']],
    ['0', '2', '1985', 'birthImpossible', ['day']],
    ['1.5', '2', '1985', 'birthImpossible', ['day']],
    ['10', '13', '1985', 'birthImpossible', ['month']],
    ['10', 'Mai', '1985', 'birthImpossible', ['month']],
    ['10', 'm', '1985', 'birthImpossible', ['month']],
    ['22', '11', '2026', 'birthPast', ['year']],
    ['31', '12', '1899', 'birthPast', ['year']],
  ])('is refused with a message if it is ambiguous or impossible: %j %j %j: %s', (...row) => {
    const [day, month, year, trouble, parts] = row;
    expect(birthOf({ day, month, year }, 'en', TODAY)).toEqual({ trouble, parts });
  });
});
