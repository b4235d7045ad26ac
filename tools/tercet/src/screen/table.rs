//! Tables for people: no lines, a header, colour by meaning.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table,
};
use serde::Serialize;

use crate::screen::{Ink, output::COLUMNS};

/// What a cell means, so that colour follows meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// Of second importance.
    Dim,
    /// Went well.
    Good,
    /// Went badly.
    Bad,
    /// Not over yet, or worth a look.
    Warn,
    /// A number: aligned to the right.
    Number,
}

/// A row of a table and an object of the JSON output.
pub trait Record: Serialize {
    /// The columns' headings.
    const HEADINGS: &'static [&'static str];
    /// What to say instead of an empty table.
    const EMPTY: &'static str;
    /// One cell for each heading.
    fn cells(&self) -> Vec<(String, Tone)>;
}

/// Draws records as a table.
pub fn table<R: Record>(records: &[R], ink: Ink) -> String {
    if records.is_empty() {
        return ink.dim(R::EMPTY);
    }
    let mut table = Table::new();
    table
        .load_style(comfy_table::presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(COLUMNS)
        .set_header(R::HEADINGS.iter().map(|text| heading(text)));
    if ink.is_on() {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.add_rows(
        records
            .iter()
            .map(|record| record.cells().into_iter().map(cell)),
    );
    // The id: it must be copyable, so other columns break instead.
    if let Some(id) = table.column_mut(0) {
        id.set_constraint(ColumnConstraint::ContentWidth);
    }
    table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

fn heading(text: &str) -> Cell {
    Cell::new(text).add_attribute(Attribute::Dim)
}

fn cell((text, tone): (String, Tone)) -> Cell {
    let cell = Cell::new(text);
    match tone {
        Tone::Plain => cell,
        Tone::Dim => cell.add_attribute(Attribute::Dim),
        Tone::Good => cell.fg(Color::DarkGreen),
        Tone::Bad => cell.fg(Color::DarkRed),
        Tone::Warn => cell.fg(Color::DarkYellow),
        Tone::Number => cell.set_alignment(CellAlignment::Right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Shelf {
        sku: &'static str,
        on_hand: i64,
    }

    impl Record for Shelf {
        const HEADINGS: &'static [&'static str] = &["SKU", "ON HAND"];
        const EMPTY: &'static str = "no stock";
        fn cells(&self) -> Vec<(String, Tone)> {
            vec![
                (self.sku.into(), Tone::Plain),
                (self.on_hand.to_string(), Tone::Number),
            ]
        }
    }

    #[test]
    fn numbers_stand_to_the_right_and_no_line_ends_in_blanks() {
        let shelves = [
            Shelf {
                sku: "TEA-GREEN",
                on_hand: 7,
            },
            Shelf {
                sku: "CUP",
                on_hand: 120,
            },
        ];
        let text = table(&shelves, Ink::PLAIN);
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        assert_eq!(
            lines,
            [
                " SKU        ON HAND",
                " TEA-GREEN        7",
                " CUP            120"
            ]
        );
        assert!(table(&shelves, Ink::COLOURED).contains('\u{1b}'));
    }

    #[test]
    fn an_id_stays_whole_however_wide_the_rest_is() {
        #[derive(Serialize)]
        struct Wide;
        impl Record for Wide {
            const HEADINGS: &'static [&'static str] = &["ID", "WHAT"];
            const EMPTY: &'static str = "";
            fn cells(&self) -> Vec<(String, Tone)> {
                let id = "01a22e25-74f5-764f-9d7f-74b1eeaa7d93";
                vec![(id.into(), Tone::Plain), ("word ".repeat(30), Tone::Plain)]
            }
        }
        assert!(table(&[Wide], Ink::PLAIN).contains("01a22e25-74f5-764f-9d7f-74b1eeaa7d93"));
    }

    #[test]
    fn an_empty_table_says_so() {
        assert_eq!(table::<Shelf>(&[], Ink::PLAIN), "no stock");
    }
}
