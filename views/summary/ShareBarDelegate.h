#pragma once

#include <QColor>
#include <QStyledItemDelegate>

namespace lanescope {

/// Draws the share of a percent column as a thin bar under its number. Other columns look as usual.
class ShareBarDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    explicit ShareBarDelegate(QObject* parent = nullptr);
    /// The highlight colour of the palette until one is set.
    void setBarColor(const QColor& color);

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;

  private:
    QColor barColor_;
};

}  // namespace lanescope
